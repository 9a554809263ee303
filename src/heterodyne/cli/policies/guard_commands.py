"""`heterodyne guards show` and `hits`: what policies of a running gateway found."""

import click

from heterodyne.cli.policies.span import query, span_options


@click.command()
@span_options
def show(*, since: float | None, until: float | None, url: str, key_env: str, as_json: bool) -> None:
    """Say how often the policies of a running gateway found something.

    \b
    Examples:
      heterodyne guards show
      heterodyne guards show --since 2026-03-01
    """
    from heterodyne.cli.output import print_json
    from heterodyne.cli.policies.asking import ask
    from heterodyne.cli.policies.tables import print_guards
    from heterodyne.console.policies.pages import GuardPage

    page = ask(url, key_env, query("/admin/guards", since_at=since, until_at=until), GuardPage)
    if as_json:
        print_json(page)
    else:
        print_guards(page)


@click.command()
@click.option("--policy", metavar="NAME", help="Only what this policy found.")
@click.option("--rule", metavar="NAME", help="Only this kind of finding, as iban.")
@click.option("--action", type=click.Choice(("flag", "mask", "block")), help="Only where this was done.")
@click.option("--project", metavar="ORG/PROJECT", help="Only in requests of this project.")
@click.option("--limit", type=click.IntRange(1, 1000), default=50, show_default=True, help="How many at most.")
@span_options
def hits(
    *,
    policy: str | None,
    rule: str | None,
    action: str | None,
    project: str | None,
    limit: int,
    since: float | None,
    until: float | None,
    url: str,
    key_env: str,
    as_json: bool,
) -> None:
    """List what policies found in single requests, the newest first: where and what, never the words.

    `heterodyne explain ID` has more of a request.

    \b
    Examples:
      heterodyne guards hits
      heterodyne guards hits --policy private --action block --since 2026-03-01
    """
    from heterodyne.cli.output import print_json
    from heterodyne.cli.policies.asking import ask
    from heterodyne.cli.policies.tables import print_hits
    from heterodyne.console.policies.pages import HitPage

    path = query(
        "/admin/guards/hits",
        since_at=since,
        until_at=until,
        policy=policy,
        rule=rule,
        action=action,
        project=project,
        limit=limit,
    )
    page = ask(url, key_env, path, HitPage)
    if as_json:
        print_json(page)
    else:
        print_hits(page)
