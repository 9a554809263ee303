"""The chat_template setting names a file, one of ours, or nothing."""

from pathlib import Path

import pytest

from heterodyne.domain.errors import SettingsInvalid
from heterodyne.fleet.chat_template import builtin_names, read_chat_template


def test_absence_leaves_the_template_to_the_weights() -> None:
    assert read_chat_template(None) is None


def test_a_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "x.jinja").write_text("{{ messages }}")
    assert read_chat_template(str(tmp_path / "x.jinja")) == "{{ messages }}"


def test_ours_are_read_by_name() -> None:
    assert "chatml_tools" in builtin_names()
    assert "<tool_call>" in (read_chat_template("builtin:chatml_tools") or "")


def test_an_unknown_builtin_names_the_nearest() -> None:
    with pytest.raises(SettingsInvalid, match='did you mean "builtin:chatml_tools"'):
        read_chat_template("builtin:chatml")


def test_a_missing_file_is_named() -> None:
    with pytest.raises(SettingsInvalid, match="cannot read /nope"):
        read_chat_template("/nope")
