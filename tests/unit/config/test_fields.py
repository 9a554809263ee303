"""Settings as values: all of them explained, each reachable by path and variable."""

import tomllib

import msgspec
import pytest

from heterodyne.config.fields import (
    Field,
    dotted,
    environment_name,
    fields,
    from_dotted,
    named_fields,
    try_field,
)
from heterodyne.config.settings import NAMED, SECTIONS, Settings
from heterodyne.config.wording import expected


def every_field() -> tuple[Field, ...]:
    return (*fields(), *(field for table in NAMED for field in named_fields(table, "a.name")))


def test_the_sections_and_the_tables_of_names_are_all_there_is() -> None:
    assert [*SECTIONS, *NAMED] == [field.name for field in msgspec.structs.fields(Settings)]


def test_every_setting_has_a_sentence_and_a_type_in_words() -> None:
    for field in every_field():
        assert field.description.endswith("."), field.dotted
        assert expected(field)


@pytest.mark.parametrize(
    "path",
    [
        ("gateway",),
        ("gateway", "nope"),
        ("pools", "p"),
        ("pools", "p", "nope"),
        ("x", "y"),
        ("models", "m"),
        ("models", "m", "nope"),
    ],
)
def test_a_path_that_is_not_a_setting_finds_nothing(path: tuple[str, ...]) -> None:
    assert try_field(path) is None


def test_every_setting_is_found_by_its_path() -> None:
    for field in every_field():
        assert try_field(field.path) == field


def test_msgspec_accepts_the_settings_as_a_whole() -> None:
    assert msgspec.convert(msgspec.to_builtins(Settings()), Settings) == Settings()


def test_variables_separate_levels_with_two_underscores() -> None:
    assert environment_name(("gateway", "port")) == "HETERODYNE_GATEWAY__PORT"
    assert environment_name(("pools", "big-one", "slots")) == "HETERODYNE_POOLS__BIG_ONE__SLOTS"
    assert environment_name(("models", "llama-3.1-70b", "aliases")) == "HETERODYNE_MODELS__LLAMA_3_1_70B__ALIASES"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (("gateway", "port"), "gateway.port"),
        (("models", "llama-3.1-70b", "aliases"), 'models."llama-3.1-70b".aliases'),
        (("models", "Qwen/Qwen3-8B", "pools"), 'models."Qwen/Qwen3-8B".pools'),
    ],
)
def test_a_path_is_written_and_read_as_toml_spells_it(path: tuple[str, ...], text: str) -> None:
    assert dotted(*path) == text
    assert from_dotted(text) == path
    found: object = tomllib.loads(f"{text} = 1")
    for part in path:
        assert isinstance(found, dict)
        found = found[part]
    assert found == 1


@pytest.mark.parametrize("text", [".", "gateway..port", "gateway.", 'a."b', ""])
def test_an_odd_path_is_read_without_fuss(text: str) -> None:
    assert try_field(from_dotted(text)) is None
