"""The reference pages say what the code says: every setting, error, command and metric."""

from pathlib import Path

import pytest

from heterodyne.cli.reference import errors, examples
from heterodyne.cli.reference.commands import every_command
from heterodyne.cli.reference.write import PAGES, write
from heterodyne.config.fields import ANY_NAME, fields, named_fields
from heterodyne.config.settings import NAMED
from heterodyne.telemetry.metrics import ALL

DOCS = Path(__file__).parents[2] / "docs"
REFERENCE = DOCS / "reference"


@pytest.mark.parametrize("name", list(PAGES))
def test_a_reference_page_is_what_make_docs_would_write(name: str, tmp_path: Path) -> None:
    write(tmp_path)
    page = REFERENCE / name
    assert page.is_file(), f"docs/reference/{name} is missing; run `make docs`"
    same = page.read_text(encoding="utf-8") == (tmp_path / name).read_text(encoding="utf-8")
    assert same, f"docs/reference/{name} is out of date; run `make docs`"


@pytest.mark.parametrize("name", examples.GUIDES)
def test_the_sample_output_of_a_guide_is_what_its_commands_print(name: str) -> None:
    guide = (DOCS / "guides" / name).read_text(encoding="utf-8")
    assert guide == examples.refreshed(guide), f"docs/guides/{name} is out of date; run `make docs`"


def missing(page: str, names: list[str]) -> list[str]:
    text = (REFERENCE / page).read_text(encoding="utf-8")
    return [name for name in names if name not in text]


def test_every_setting_has_its_row() -> None:
    named = (field for table in NAMED for field in named_fields(table, ANY_NAME))
    names = [f"| `{field.dotted}` |" for field in (*fields(), *named)]
    assert missing("settings.md", names) == [], "run `make docs`"


def test_every_error_has_its_row() -> None:
    assert missing("errors.md", [f"| `{code}` |" for code in errors.codes()]) == [], "run `make docs`"


def test_every_command_has_its_section() -> None:
    assert missing("cli.md", [f"## {path}\n" for path, _ in every_command()]) == [], "run `make docs`"


def test_every_metric_has_its_row() -> None:
    assert missing("metrics.md", [f"| `{metric.name}` |" for metric in ALL]) == [], "run `make docs`"
