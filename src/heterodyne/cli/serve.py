"""`heterodyne serve`: settings in, a running gateway out."""

import click

from heterodyne.cli.invocation import Invocation, pass_invocation


@click.command()
@click.option("--host", metavar="ADDRESS", help="Address to listen on (gateway.host).")
@click.option("--port", type=click.IntRange(0, 65535), help="Port to listen on (gateway.port).")
@click.option("--workers", type=click.IntRange(1, 256), help="Processes that share it (gateway.workers).")
@pass_invocation
@click.pass_context
def serve(ctx: click.Context, invocation: Invocation, host: str | None, port: int | None, workers: int | None) -> None:
    """Serve the configured models over the OpenAI API.

    Without a settings file it fetches two small models once and serves them on http://127.0.0.1:8080.

    \b
    Examples:
      heterodyne serve
      heterodyne serve --port 9000 --workers 2
      heterodyne --config /etc/heterodyne.toml serve
      heterodyne --set telemetry.log_level=debug serve
    """
    flags = {
        "gateway.host": host,
        "gateway.port": None if port is None else str(port),
        "gateway.workers": None if workers is None else str(workers),
    }
    settings = invocation.settings(flags)
    from heterodyne.assembly.serve import serve as serve_until_told
    from heterodyne.cli.download_bar import download_bar

    with download_bar() as progress:
        ctx.exit(serve_until_told(settings, lambda: invocation.settings(flags), progress))
