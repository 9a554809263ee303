"""Settings as values: all of them explained, each reachable by path and variable."""

import msgspec
import pytest

from heterodyne.config.fields import environment_name, fields, pool_fields, try_field
from heterodyne.config.settings import Settings
from heterodyne.config.wording import expected


def test_every_setting_has_a_sentence_and_a_type_in_words() -> None:
    for field in (*fields(), *pool_fields("p")):
        assert field.description.endswith("."), field.dotted
        assert expected(field)


@pytest.mark.parametrize(
    "path", [("gateway",), ("gateway", "nope"), ("pools", "p"), ("pools", "p", "nope"), ("x", "y")]
)
def test_a_path_that_is_not_a_setting_finds_nothing(path: tuple[str, ...]) -> None:
    assert try_field(path) is None


def test_every_setting_is_found_by_its_path() -> None:
    for field in (*fields(), *pool_fields("p")):
        assert try_field(field.path) == field


def test_msgspec_accepts_the_settings_as_a_whole() -> None:
    assert msgspec.convert(msgspec.to_builtins(Settings()), Settings) == Settings()


def test_variables_separate_levels_with_two_underscores() -> None:
    assert environment_name(("gateway", "port")) == "HETERODYNE_GATEWAY__PORT"
    assert environment_name(("pools", "big-one", "slots")) == "HETERODYNE_POOLS__BIG_ONE__SLOTS"
