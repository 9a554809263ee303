"""Where an engine of ours listens."""

from collections.abc import Callable
from typing import Any

import click

Command = Callable[..., Any]


def listen_options(command: Command) -> Command:
    """`--host` and `--port`."""
    port = click.option(
        "--port",
        type=click.IntRange(0, 65535),
        default=8000,
        show_default=True,
        metavar="PORT",
        help="Port; 0 takes a free one.",
    )
    host = click.option("--host", default="127.0.0.1", show_default=True, metavar="HOST", help="Address to listen on.")
    return host(port(command))
