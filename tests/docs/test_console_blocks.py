"""Every console block is written by `make docs`, typed into a running fleet, or of a kind that is named here.

Whichever it is, its commands exist, and take the options that are shown.
"""

import re
import shlex
from pathlib import Path

import click
import pytest

from heterodyne.cli.main import cli
from heterodyne.cli.reference.examples import GUIDES as WRITTEN
from tests.docs.console_blocks import DOCS, pages, steps
from tests.docs.test_live_guides import GUIDES as TYPED

MAKEFILE = (DOCS.parent / "Makefile").read_text(encoding="utf-8")
TOOLS = {"cat", "curl", "grep", "kill", "sed", "sleep", "sort", "tail", "tee", "uniq"}
# Whose output is of one machine and one moment, and what holds it.
MEASURED = {
    "benchmarks.md": "of one machine: the page is written by the benchmark",
    "first-run.md": "of one fresh machine with a network: tests/e2e/test_banner.py has the banner",
    "contributing/hot-files.md": "needs a C compiler: tests/compiling",
    "guides/abuse.md": "tests/e2e/test_abuse.py has the commands",
    "guides/audit.md": "of a log of 184,201 entries: tests/e2e/test_admin_audit.py has the commands",
    "guides/autoscaling.md": "simulates for ten seconds: tests/unit/cli/scale/test_plan.py has the command",
    "guides/batches.md": "tests/e2e/test_batch_command.py has the commands",
    "guides/calibrate.md": "of one engine on one chip: tests/e2e/test_calibrate_command.py has the command",
    "guides/dashboards.md": "prints nothing: tests/unit/cli/test_observability.py has the files",
    "guides/load-testing.md": "tests/e2e/test_bench_command.py has the command",
    "guides/many-gateways.md": "of four gateways: tests/e2e/test_agreed_reloads.py has the command",
    "guides/simulate.md": "of public traces that are not part of this repository: tests/unit/cli/test_simulate.py",
}


def name_of(page: Path) -> str:
    return page.relative_to(DOCS).as_posix()


def test_every_block_is_written_typed_or_measured() -> None:
    held = {f"guides/{name}" for name in (*WRITTEN, *TYPED)} | MEASURED.keys()
    assert {name_of(page) for page in pages()} == held


@pytest.mark.parametrize("named", MEASURED.values())
def test_a_test_that_is_named_is_there(named: str) -> None:
    for path in re.findall(r"tests/[\w/.]*\w", named):
        assert (DOCS.parent / path).exists(), path


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_commands_are_there_and_take_what_is_shown(page: Path) -> None:
    for step in steps(page):
        for words in _commands(step.command):
            _check(words)


def _commands(line: str) -> list[list[str]]:
    """A shell line as its commands, without where their output goes."""
    words = shlex.split(re.sub(r"\$\([^)]*\)", "1", line), comments=True)
    found: list[list[str]] = [[]]
    for word in words:
        if word in {"|", ";", "&", "&&"} or word.endswith(";"):
            found[-1] += [word.rstrip(";")] if word.rstrip(";|&") else []
            found.append([])
        else:
            found[-1].append(word)
    return [words[: words.index(">")] if ">" in words else words for words in found if words]


def _check(words: list[str]) -> None:
    match words:
        case ["heterodyne", *rest]:
            _parsed(cli, rest)
        case ["make", verb, *_]:
            assert f"\n{verb}:" in MAKEFILE, words
        case [tool, *_]:
            assert tool in TOOLS, words


def _parsed(command: click.Command, words: list[str]) -> None:
    """As far as the options go; what the words mean is for the command."""
    while isinstance(command, click.Group):
        name = words.pop(0)
        while name.startswith("-"):  # a global option and its value
            words.pop(0)
            name = words.pop(0)
        found = command.get_command(click.Context(command), name)
        assert found is not None, name
        command = found
    command.make_parser(click.Context(command)).parse_args(list(words))
