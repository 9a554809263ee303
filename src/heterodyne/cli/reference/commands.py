"""The page of every command, from its help text and its parameters."""

import inspect
from collections.abc import Iterator

import click

from heterodyne.cli.main import cli
from heterodyne.cli.reference.markdown import code, table

VERBATIM = "\b"  # click's mark for a paragraph to leave as it is
INTRODUCTION = """\
# Commands

Results go to stdout, talk to stderr. Exit codes: 0 done, 1 failed, 2 wrong usage or settings, 130 interrupted."""


def page() -> str:
    """A section per command, groups before what is in them."""
    sections = ["\n\n".join(_section(path, command)) for path, command in every_command()]
    return "\n\n".join([INTRODUCTION, *sections])


def every_command() -> Iterator[tuple[str, click.Command]]:
    """Each command with the words that call it."""
    yield from _walk("heterodyne", cli)


def _walk(path: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None
            yield from _walk(f"{path} {name}", child)


def _section(path: str, command: click.Command) -> Iterator[str]:
    yield f"## {path}"
    yield code(_usage(path, command))
    yield from _paragraphs(command.help or "")
    options = [parameter for parameter in command.params if isinstance(parameter, click.Option)]
    if options:
        yield table(("Option", "Meaning"), map(_option_row, options))
    yield from _paragraphs(command.epilog or "")


def _usage(path: str, command: click.Command) -> str:
    has_options = any(isinstance(parameter, click.Option) for parameter in command.params)
    arguments = [_argument(one) for one in command.params if isinstance(one, click.Argument)]
    words = [path, *(["[OPTIONS]"] if has_options else []), *arguments]
    return " ".join(words + (["COMMAND ..."] if isinstance(command, click.Group) else []))


def _argument(argument: click.Argument) -> str:
    name = (argument.name or "").upper() + ("..." if argument.nargs == -1 else "")
    return name if argument.required else f"[{name}]"


def _paragraphs(text: str) -> Iterator[str]:
    """Paragraphs flow, except the ones marked verbatim, which hold examples."""
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        lines = paragraph.strip("\n").splitlines()
        if lines and lines[0].strip() == VERBATIM:
            title, *examples = lines[1:]
            yield title.strip()
            yield "\n".join(["```sh", *inspect.cleandoc("\n".join(examples)).splitlines(), "```"])
        elif lines:
            yield " ".join(line.strip() for line in lines)


def _option_row(option: click.Option) -> tuple[str, str]:
    names = ", ".join(code(name) for name in (*option.opts, *option.secondary_opts))
    value = "" if option.is_flag else f" {code(option.metavar or _kind(option))}"
    variable = f" Environment: {code(str(option.envvar))}." if option.envvar else ""
    return names + value, (option.help or "") + _default(option) + variable


def _kind(option: click.Option) -> str:
    if isinstance(option.type, click.Choice):
        return "|".join(str(choice) for choice in option.type.choices)
    return option.type.name.upper().removesuffix(" RANGE")


def _default(option: click.Option) -> str:
    if not option.show_default or option.is_flag:
        return ""
    return f" Default: {code(str(option.default))}."
