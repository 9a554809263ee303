"""A moment on the command line."""

from datetime import UTC, datetime

import click


def moment_s(ctx: click.Context, param: click.Parameter, value: str | None) -> float | None:
    """A time as ISO 8601, UTC unless it says otherwise, as seconds since the epoch."""
    if value is None:
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError as error:
        raise click.BadParameter(
            f'"{value}" is no time; for example 2026-03-01 or 2026-03-01T12:30:00+01:00', ctx, param
        ) from error
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
