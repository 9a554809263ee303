"""`heterodyne cache`: what the caches of a running gateway give again, and what they are to give no more."""

import click

from heterodyne.cli.admin_options import admin_options
from heterodyne.cli.policies.span import query, span_options


@click.group()
def cache() -> None:
    """See what the caches of a running gateway give again, save and get wrong, and drop what is out of date.

    \b
    Examples:
      heterodyne cache show
      heterodyne cache drop --tag handbook
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


@cache.command()
@click.option("--tag", default="", metavar="TAG", help="Answers with this tag, of the settings or of their requests.")
@click.option("--model", default="", metavar="NAME", help="Answers of this model, or of the one that an alias means.")
@click.option("--project", default="", metavar="ORG/PROJECT", help="Answers to this project.")
@click.option("--all", "is_all", is_flag=True, help="Everything that is kept.")
@admin_options
def drop(*, tag: str, model: str, project: str, is_all: bool, url: str, key_env: str, as_json: bool) -> None:
    """Have kept answers given no more: those that have all that is named, exact and similar ones.

    It holds in every worker of every gateway with the same database, and for what Redis or Valkey keeps for them.
    Answers that are under way are not kept. It is in the audit log.

    \b
    Examples:
      heterodyne cache drop --tag handbook
      heterodyne cache drop --model large --project acme/search
      heterodyne cache drop --all
    """
    from heterodyne.cli.output import print_json
    from heterodyne.cli.policies.asking import ask
    from heterodyne.console.policies.forms import DropForm
    from heterodyne.console.policies.pages import Dropped

    form = DropForm(tag=tag, model=model, project=project, all=is_all)
    done = ask(url, key_env, "/admin/caches/drop", Dropped, form)
    if as_json:
        print_json(done)
        return
    later = "" if done.is_applied else "; some worker has not taken it yet, and will as soon as it answers"
    click.echo(f"Dropped: {form}{later}.")
