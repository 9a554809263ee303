"""`heterodyne cache`: what the caches of a running gateway give again."""

import click

from heterodyne.cli.policies.span import query, span_options


@click.group()
def cache() -> None:
    """See what the caches of a running gateway give again, save and get wrong.

    \b
    Examples:
      heterodyne cache show
    """


@cache.command()
@span_options
def show(*, since: float | None, until: float | None, url: str, key_env: str, as_json: bool) -> None:
    """Say how often an answer was given again, what that saved, and how often it was wrong at most.

    \b
    Examples:
      heterodyne cache show
      heterodyne cache show --since 2026-03-01 --json
    """
    from heterodyne.cli.output import print_json
    from heterodyne.cli.policies.asking import ask
    from heterodyne.cli.policies.tables import print_caches
    from heterodyne.console.policies.pages import CachePage

    page = ask(url, key_env, query("/admin/caches", since_at=since, until_at=until), CachePage)
    if as_json:
        print_json(page)
    else:
        print_caches(page)
