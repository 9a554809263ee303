"""What a host's shell is told, and what it says."""

import subprocess
from pathlib import Path

import pytest

from heterodyne.domain.errors import DriverUnavailable
from heterodyne.fleet.hosts.ssh_script import read_slots, remote_words

HOSTILE = ("it's", "$(touch gone)", "`touch gone`", "; touch gone", '"', "a  b", "*", "-x", "&& touch gone", "a\nb")


def test_the_host_stands_where_it_belongs_and_the_command_is_one_word() -> None:
    words = remote_words(("ssh", "-p", "22", "{host}"), "gpu-a", (".heterodyne", "300"))
    assert words == ["ssh", "-p", "22", "gpu-a", "sh -s -- .heterodyne 300"]


def test_nothing_of_the_arguments_is_a_command(tmp_path: Path) -> None:
    command = remote_words(("ssh", "{host}"), "gpu-a", HOSTILE)[-1]
    ran = subprocess.run(
        ["/bin/sh", "-c", command],
        input='for word; do printf "%s|" "$word"; done',
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        timeout=10,
    )
    assert ran.stdout == "".join(f"{word}|" for word in HOSTILE)
    assert not list(tmp_path.iterdir())


def test_the_places_of_a_host_are_read() -> None:
    said = "30000\tn/chat\tchat-1\truns\t12\t\n30001\tn/chat\tchat-2\tdied\t3\tno such model \n"
    [runs, died, stopped] = read_slots(said + "30002\tn/chat\tchat-3\tstopped\t3\t\n")
    assert (runs.port, runs.owner, runs.id, runs.runs, runs.age_s) == (30000, "n/chat", "chat-1", True, 12.0)
    assert (died.runs, died.is_stopped, died.said) == (False, False, "no such model")
    assert (stopped.runs, stopped.is_stopped) == (False, True)


def test_a_greeting_instead_of_an_answer_is_named() -> None:
    with pytest.raises(DriverUnavailable, match="Welcome to gpu-a"):
        read_slots("Welcome to gpu-a!\n")
