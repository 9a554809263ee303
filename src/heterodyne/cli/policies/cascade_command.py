"""`heterodyne cascade show`: what cascades of a running gateway kept, escalated and saved."""

import click

from heterodyne.cli.policies.span import query, span_options


@click.command()
@span_options
def show(*, since: float | None, until: float | None, url: str, key_env: str, as_json: bool) -> None:
    """Say what the cascades of a running gateway kept and saved, and what is known of quality.

    \b
    Examples:
      heterodyne cascade show
      heterodyne cascade show --since 2026-03-01 --json
    """
    from heterodyne.cli.output import print_json
    from heterodyne.cli.policies.asking import ask
    from heterodyne.cli.policies.tables import print_cascades
    from heterodyne.console.policies.pages import CascadePage

    page = ask(url, key_env, query("/admin/cascades", since_at=since, until_at=until), CascadePage)
    if as_json:
        print_json(page)
    else:
        print_cascades(page)
