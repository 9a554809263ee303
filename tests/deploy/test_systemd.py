"""The unit: systemd takes it, it is well shut in, and what it runs is a command of ours with the folders it names."""

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from heterodyne.cli.main import cli

UNIT = Path(__file__).parents[2] / "deploy" / "systemd" / "heterodyne.service"
EXPOSURE_MAX = 2.0  # of ten; what is above 4 systemd calls medium


def analyzed(*arguments: str) -> str:
    path = shutil.which("systemd-analyze")
    if path is None:
        pytest.skip("systemd-analyze is not installed; Debian has it in the package `systemd`")
    done = subprocess.run([path, *arguments], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def commands(name: str) -> list[list[str]]:
    lines = UNIT.read_text(encoding="utf-8").splitlines()
    return [shlex.split(line.partition("=")[2]) for line in lines if line.startswith(f"{name}=")]


def test_systemd_takes_it(tmp_path: Path) -> None:
    """With a program of ours that is there in place of the one that will be."""
    there = tmp_path / "heterodyne.service"
    text = UNIT.read_text(encoding="utf-8").replace("/opt/heterodyne/bin/heterodyne", "/bin/true")
    there.write_text(text, encoding="utf-8")
    assert "heterodyne.service" not in analyzed("verify", str(there))


def test_it_is_shut_in() -> None:
    found = re.search(
        r"Overall exposure level for heterodyne.service: ([\d.]+)", analyzed("security", "--offline=true", str(UNIT))
    )
    assert found is not None
    assert float(found.group(1)) <= EXPOSURE_MAX


@pytest.mark.parametrize("name", ["ExecStartPre", "ExecStart"])
def test_what_it_runs_is_a_command_of_ours(name: str, tmp_path: Path) -> None:
    [[program, *arguments]] = commands(name)
    assert program == "/opt/heterodyne/bin/heterodyne"
    settings = tmp_path / "heterodyne.toml"
    settings.write_text("[gateway]\nport = 0\n", encoding="utf-8")
    here = [str(settings) if one == "/etc/heterodyne/heterodyne.toml" else one for one in arguments]
    if name == "ExecStart":
        here.append("--help")
    result = CliRunner().invoke(cli, here, env={**os.environ, "XDG_STATE_HOME": str(tmp_path)})
    assert result.exit_code == 0, result.output
