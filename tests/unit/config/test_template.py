"""The file `config init` writes is valid, whole, and says nothing but the defaults."""

import tomllib
from pathlib import Path

from heterodyne.config.fields import Field, fields, named_fields
from heterodyne.config.load import load
from heterodyne.config.settings import NAMED, SECTIONS, Settings
from heterodyne.config.template import EXAMPLES, template


def every_field() -> tuple[Field, ...]:
    return (*fields(), *(field for table in NAMED for field in named_fields(table, "p")))


def test_the_template_read_back_gives_the_default_settings(tmp_path: Path) -> None:
    path = tmp_path / "heterodyne.toml"
    path.write_text(template())
    assert load(path, {}, {}) == Settings()


def test_the_template_shows_every_setting_in_its_section() -> None:
    text = template()
    assert [f"[{name}]" in text for name in SECTIONS] == [True] * len(SECTIONS)
    shown = {line.removeprefix("# ").split(" = ")[0] for line in text.splitlines() if " = " in line}
    assert {field.path[-1] for field in every_field()} <= shown


def test_every_commented_setting_is_valid_toml_when_the_mark_is_removed() -> None:
    for line in template().splitlines():
        name, equals, _ = line.removeprefix("# ").partition(" = ")
        if line.startswith("# ") and equals and name.isidentifier():
            assert list(tomllib.loads(line.removeprefix("# "))) == [name]


def test_every_setting_without_a_default_has_an_example() -> None:
    optional = {field.path[-1] for field in every_field() if field.default is None}
    assert optional <= set(EXAMPLES)
