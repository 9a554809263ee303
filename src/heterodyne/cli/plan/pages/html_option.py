"""The `--html` option: where the page goes, the command it names, and the writing."""

import shlex
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from heterodyne.cli.plan.pages.page import Provenance

Command = TypeVar("Command", bound=Callable[..., Any])
TO_PLANS = "physics."  # of the settings only these reach a plan; others may hold what a page must not show


def html_option(command: Command) -> Command:
    """Adds `--html FILE`, given to the command as `html_file`."""
    return click.option(
        "--html",
        "html_file",
        type=click.Path(path_type=Path, dir_okay=False, writable=True),
        callback=_refuse_stdout,
        metavar="FILE",
        help="Write the answer as one self-contained web page too.",
    )(command)


def provenance() -> "Provenance":
    """How the page of the command that runs now comes about."""
    from heterodyne import __version__
    from heterodyne.cli.plan.pages.page import Provenance

    return Provenance(
        command=command_line(click.get_current_context()),
        day=date.today(),  # noqa: DTZ011 - the local day of the person who reads the page
        version=__version__,
    )


def write_page(file: Path, text: str) -> None:
    """A file that is there already is replaced, as by any command that writes one."""
    from heterodyne.domain.errors import InvalidSpec

    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InvalidSpec(f"{file}: cannot be written: {error.strerror}") from error
    click.echo(f"wrote {file}", err=True)


def command_line(context: click.Context) -> str:
    """The words that ask the same again, as a shell takes them."""
    words = []
    for part in _chain(context):
        words.append(part.info_name or "")
        for parameter in part.command.params:
            if part.get_parameter_source(parameter.name or "") is click.core.ParameterSource.COMMANDLINE:
                words += _words(parameter, part.params[parameter.name or ""])
    return shlex.join(words)


def _chain(context: click.Context) -> list[click.Context]:
    return [*(_chain(context.parent) if context.parent else []), context]


def _words(parameter: click.Parameter, value: object) -> list[str]:
    if isinstance(parameter, click.Argument):
        return [str(value)]
    flag = parameter.opts[0]
    if isinstance(parameter, click.Option) and parameter.is_flag:
        return [flag]
    values = [str(one) for one in value] if isinstance(value, (tuple, list)) else [str(value)]
    if flag == "--set":
        values = [one for one in values if one.startswith(TO_PLANS)]
    return [word for one in values for word in (flag, one)]


def _refuse_stdout(context: click.Context, parameter: click.Parameter, value: Path | None) -> Path | None:
    """The table or the JSON is on stdout; a page in the middle of it would break both."""
    if value is not None and str(value) == "-":
        raise click.BadParameter("stdout has the table or the JSON; name a file", context, parameter)
    return value
