"""The group: help without heavy imports, errors as lines and exit codes."""

import subprocess
import sys

import click
import pytest

from heterodyne import __version__
from heterodyne.cli import main
from heterodyne.cli.reference.commands import every_command
from heterodyne.domain.errors import PortInUse, SettingsInvalid


def test_help_lists_every_command(run) -> None:
    result = run("--help")
    assert result.exit_code == 0
    assert [name for name in main.COMMANDS if f"\n  {name} " not in result.stdout] == []


def test_version_is_the_packages(run) -> None:
    assert __version__ in run("--version").stdout


def test_help_imports_neither_the_event_loop_nor_the_settings() -> None:
    script = (
        "import sys\nfrom heterodyne.cli.main import cli\n"
        "cli(['--help'], standalone_mode=False)\n"
        "heavy = {'asyncio', 'uvloop', 'rich', 'numpy', 'heterodyne.config'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_command_has_help_with_an_example() -> None:
    for path, command in every_command():
        text = f"{command.help or ''} {command.epilog or ''}"
        assert "Examples:" in text, path
        assert path in text, path


def test_the_listing_knows_a_module_for_every_command() -> None:
    context = click.Context(main.cli)
    for name in main.COMMANDS:
        command = main.cli.get_command(context, name)
        assert command is not None
        assert command.name == name


def test_an_unknown_command_is_wrong_usage(run) -> None:
    assert run("nope").exit_code == 2


@pytest.mark.parametrize("word", ["gateway.port", "=1"])
def test_set_wants_a_key_and_a_value(run, word: str) -> None:
    result = run("--set", word, "config", "check")
    assert result.exit_code == 2
    assert "KEY=VALUE" in result.stderr


def failing(error: BaseException) -> click.Group:
    group = main.LazyGroup("heterodyne")

    @click.command()
    def serve() -> None:
        raise error

    group.get_command = lambda ctx, name: serve  # type: ignore[method-assign]
    return group


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        (PortInUse("port 8080 is taken"), 1, "heterodyne: port 8080 is taken\n"),
        (SettingsInvalid("a: b"), 2, "heterodyne: a: b\n"),
        (SettingsInvalid("a: b\nc: d"), 2, "heterodyne: 2 problems in the settings:\n  a: b\n  c: d\n"),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_an_error_becomes_lines_on_stderr_and_an_exit_code(error: BaseException, code: int, text: str) -> None:
    from click.testing import CliRunner

    result = CliRunner().invoke(failing(error), ["serve"])
    assert (result.exit_code, result.stderr.strip("\n"), result.stdout) == (code, text.strip("\n"), "")
