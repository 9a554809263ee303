"""Where `heterodyne audit` looks: in the settings, unless the words name a folder."""

from pathlib import Path

import pytest
from click.testing import Result

from heterodyne.audit.key import open_key
from tests.support.audits import fill
from tests.unit.cli.conftest import Run


def made(folder: Path, key_file: Path, count: int) -> None:
    fill(folder, open_key(key_file, may_create=True), count)


def entries(result: Result) -> str:
    assert result.exit_code == 0, (result.output, result.exception)
    return result.stdout.split()[0]


def test_the_log_is_the_one_of_the_settings(run: Run, tmp_path: Path) -> None:
    made(tmp_path / "log", tmp_path / "keys" / "audit.key", 3)
    config = tmp_path / "heterodyne.toml"
    config.write_text(f'[audit]\ndir = "{tmp_path}/log"\nkey_file = "{tmp_path}/keys/audit.key"\n')
    assert entries(run("audit", "verify")) == "4"
    variables = {"HETERODYNE_AUDIT__DIR": str(tmp_path / "log"), "HETERODYNE_AUDIT__KEY_FILE": "keys/audit.key"}
    config.unlink()
    assert entries(run("audit", "verify", env=variables)) == "4"


def test_without_settings_it_is_in_the_state_folder(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "state" / "heterodyne" / "audit"
    made(folder, folder / "audit.key", 1)
    assert entries(run("audit", "verify", env={"XDG_STATE_HOME": str(tmp_path / "state")})) == "2"


def test_a_folder_that_is_named_needs_no_settings(run: Run, tmp_path: Path) -> None:
    """Not even good ones: a copy of the log may be looked at anywhere."""
    made(tmp_path / "copy", tmp_path / "copy" / "audit.key", 2)
    (tmp_path / "heterodyne.toml").write_text("[audit]\nkey_file = 7\n")
    assert entries(run("audit", "verify", "--dir", "copy")) == "3"


@pytest.mark.parametrize("command", ["verify", "show", "export", "anchor"])
def test_where_there_is_no_log_that_is_said(run: Run, tmp_path: Path, command: str) -> None:
    result = run("audit", command, env={"XDG_STATE_HOME": str(tmp_path / "state")})
    assert result.exit_code == 1
    assert "state/heterodyne/audit" in result.stderr
