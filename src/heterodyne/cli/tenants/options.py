"""Limits, scopes and lengths of time as words on the command line."""

import re
from collections.abc import Callable
from typing import Any, TypeVar, get_args

import click
import msgspec
from msgspec import structs

from heterodyne.domain.nearest import unknown_name
from heterodyne.domain.tenant import Limits, Scopes

UNITS_S = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}

Document = TypeVar("Document", Limits, Scopes)


def limit_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--limit NAME=N`, as often as wanted."""
    return click.option(
        "--limit", "limits", multiple=True, metavar="NAME=N",
        help=f"A limit, or none with an empty N; may be repeated. Names: {', '.join(Limits.__struct_fields__)}.",
    )(command)  # fmt: skip


def scope_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--scope NAME=VALUE,…`, as often as wanted."""
    return click.option(
        "--scope", "scopes", multiple=True, metavar="NAME=VALUE[,VALUE]",
        help="What may be asked, or anything with an empty VALUE; may be repeated. "
        f"Names: {', '.join(Scopes.__struct_fields__)}. A model may end with *.",
    )(command)  # fmt: skip


def with_limits(now: Limits, words: tuple[str, ...]) -> Limits:
    """The limits, changed by `NAME=VALUE` words."""
    return _with(now, words, "limit")


def with_scopes(now: Scopes, words: tuple[str, ...]) -> Scopes:
    """The scopes, changed by `NAME=VALUE` words."""
    return _with(now, words, "scope")


def duration(value: str) -> float:
    """Seconds, from `90s`, `15m`, `24h`, `30d` or `0`."""
    if value == "0":
        return 0.0
    found = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)([smhd])", value)
    if not found:
        raise click.BadParameter(f'"{value}" is not a length of time such as 90s, 15m, 24h or 30d')
    return float(found[1]) * UNITS_S[found[2]]


def warn_late(*, is_applied: bool) -> None:
    """Says when a change is made and not yet everywhere."""
    if not is_applied:
        click.echo("some worker has not taken it yet; `heterodyne fleet status` tells", err=True)


def _with(now: Document, words: tuple[str, ...], kind: str) -> Document:
    changed = msgspec.to_builtins(now)
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise click.UsageError(f'--{kind} "{word}": expected NAME=VALUE')
        if name not in now.__struct_fields__:
            raise unknown_name(kind, name, now.__struct_fields__)
        changed[name] = _value(now, name, value)
    try:
        return msgspec.convert(changed, type(now), strict=False)
    except msgspec.ValidationError as error:
        raise click.UsageError(f"--{kind}: {error}") from error


def _value(now: Document, name: str, value: str) -> object:
    if not value:
        return None
    is_list = any(getattr(kind, "__origin__", None) is tuple for kind in get_args(_type_of(now, name)))
    return [part.strip() for part in value.split(",")] if is_list else value


def _type_of(now: Document, name: str) -> Any:
    return next(field.type for field in structs.fields(now) if field.name == name)
