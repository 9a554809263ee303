"""How commands end when the world does not comply: in a line that says what happened, where, and what to try."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from heterodyne.audit.key import open_key
from heterodyne.audit.settings import AuditSettings
from heterodyne.domain.audit import ChangeEntry
from tests.support.audits import append

NO_INDEX = {
    "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
    "PIP_CONFIG_FILE": os.devnull,
    "PIP_EXTRA_INDEX_URL": "",
    "PIP_FIND_LINKS": "",
    "PIP_NO_INDEX": "",
}


def cut_off(folder: Path, *words: str) -> tuple[int, str]:
    """The exit code and the last words of a command whose reader has left after the first bytes."""
    process = subprocess.Popen(
        [sys.executable, "-m", "heterodyne", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env={**os.environ, "HOME": str(folder)},
    )
    assert process.stdout is not None
    assert process.stderr is not None
    with process:
        process.stdout.read(1)
        process.stdout.close()
        said = process.stderr.read().decode()
    return process.returncode, said


@pytest.fixture
def audit_folder(tmp_path: Path) -> Path:
    """A log with more in it than a pipe holds."""
    folder = tmp_path / "audit"
    key = open_key(folder / "audit.key", may_create=True)
    entries = [ChangeEntry(at=1.0, who="x" * 100, what="y" * 100, subject="z" * 100) for _ in range(2000)]
    append(folder, key, *entries, settings=AuditSettings(fsync=False))
    return folder


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_a_broken_pipe_ends_an_export_without_a_word(tmp_path: Path, audit_folder: Path, form: str) -> None:
    code, said = cut_off(tmp_path, "audit", "export", "--dir", str(audit_folder), "--format", form)
    assert (code, said) == (141, "")


def test_a_broken_pipe_ends_a_table_without_a_word(tmp_path: Path) -> None:
    for words in (("hardware", "list", "--json"), ("config", "show", "--json")):
        code, said = cut_off(tmp_path, *words)
        assert code in (0, 141)  # what fits into the pipe may be written before the reader leaves
        assert "Broken pipe" not in said
        assert "Traceback" not in said


def test_a_folder_that_is_not_there_is_named_and_no_traceback(run, tmp_path: Path) -> None:
    (tmp_path / "state" / "heterodyne").mkdir(parents=True)
    out = tmp_path / "nowhere" / "usage.csv"
    result = run("usage", "export", "--out", str(out), env={"XDG_STATE_HOME": str(tmp_path / "state")})
    assert result.exit_code == 1
    assert f"{out}.partial: No such file or directory" in result.stderr


def test_no_network_at_the_first_start_is_told_with_a_way_out(run) -> None:
    result = run("models", "pull", "chat", env=NO_INDEX)
    assert result.exit_code == 1
    assert "the package index cannot be reached ([Errno 111] Connection refused)" in result.stderr
    assert "No matching distribution" not in result.stderr
    for way_out in ('weights = "file:PATH"', "urls", "PIP_INDEX_URL"):
        assert way_out in result.stderr


def test_a_taken_port_of_emulate_is_told_with_its_holder(run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = run("emulate", "--hardware", "l4", "--model", "qwen3-4b", "--port", str(port))
    assert result.exit_code == 1
    assert f"127.0.0.1:{port} is in use by process {os.getpid()}" in result.stderr
    assert "--port 0" in result.stderr


def test_an_unquoted_dotted_name_is_explained_and_nothing_else_said(run, tmp_path: Path) -> None:
    (tmp_path / "heterodyne.toml").write_text(
        '[pools.gpt-4.1]\nmodel = "m"\nurls = ["http://h:1"]\n[models.gpt-4.1]\naliases = ["x"]\n'
    )
    result = run("config", "check")
    assert result.exit_code == 2
    assert result.stderr.splitlines()[1:] == [
        "  pools.gpt-4.1: a dot begins a table inside another, and a pool's name has none: write [pools.gpt-4-1], "
        'with model = "gpt-4.1"',
        "  models.gpt-4.1: a dot begins a table inside another; a name with dots stands in quotes: "
        'write [models."gpt-4.1"]',
    ]


def test_an_unknown_group_of_usage_is_told_with_the_nearest(run) -> None:
    result = run("usage", "--by", "project,modle")
    assert result.exit_code == 1
    assert 'by: no group "modle". Did you mean "model"?' in result.stderr
    assert "UsageGroup" not in result.stderr


def test_one_of_a_thing_is_said_in_the_singular(run, tmp_path: Path) -> None:
    (tmp_path / "heterodyne.toml").write_text('[pools.a]\nmodel = "m"\nurls = ["http://h:1"]\n')
    assert run("config", "check").stdout == "heterodyne.toml: 1 pool, 1 model, no problems\n"
