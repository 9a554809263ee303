"""Where the admin API may listen."""

from pathlib import Path

import pytest

from heterodyne.config.load import load
from heterodyne.config.problems import SettingsProblems

KEY = '"' + "0" * 64 + '"'


def settings(tmp_path: Path, text: str) -> None:
    file = tmp_path / "heterodyne.toml"
    file.write_text(text)
    load(file, {}, {})


def test_a_console_that_strangers_can_reach_has_operator_keys(tmp_path: Path) -> None:
    with pytest.raises(SettingsProblems, match=r"console\.host: .*console\.operator_keys_sha256"):
        settings(tmp_path, '[console]\nhost = "0.0.0.0"')
    settings(tmp_path, f'[console]\nhost = "0.0.0.0"\noperator_keys_sha256 = [{KEY}]')
    settings(tmp_path, '[console]\nhost = "0.0.0.0"\nlistens = false')
    settings(tmp_path, '[console]\nhost = "::1"')


def test_the_operators_key_in_the_environment_is_no_setting(tmp_path: Path) -> None:
    assert load(None, {"HETERODYNE_OPERATOR_KEY": "x", "HOME": str(tmp_path)}, {}).console.port == 8081


def test_viewers_come_beside_operators_and_with_keys_of_their_own(tmp_path: Path) -> None:
    other = '"' + "1" * 64 + '"'
    with pytest.raises(SettingsProblems, match=r"console\.viewer_keys_sha256: without an operator's key"):
        settings(tmp_path, f"[console]\nviewer_keys_sha256 = [{other}]")
    with pytest.raises(SettingsProblems, match="a key has one role"):
        settings(tmp_path, f"[console]\noperator_keys_sha256 = [{KEY}]\nviewer_keys_sha256 = [{KEY}]")
    settings(tmp_path, f"[console]\noperator_keys_sha256 = [{KEY}]\nviewer_keys_sha256 = [{other}]")
