"""`heterodyne scale explain`: what the autoscaler of a gateway decided lately, and why."""

from datetime import datetime
from typing import TYPE_CHECKING

import click

from heterodyne.cli.admin_options import admin_options
from heterodyne.cli.output import print_json, print_table
from heterodyne.domain.counted import counted

if TYPE_CHECKING:
    from heterodyne.console.scaling.pages import DecisionRow, ModelNowRow, ScalingPage, StepRow


@click.command()
@click.argument("model", required=False)
@click.option(
    "--limit", type=click.IntRange(1, 500), default=20, show_default=True, metavar="N", help="Decisions, the latest."
)
@admin_options
def explain(*, model: str | None, limit: int, url: str, key_env: str, as_json: bool) -> None:
    """Show what the autoscaler decided lately, of one MODEL or of all, and why.

    \b
    Examples:
      heterodyne scale explain
      heterodyne scale explain llama-3.1-8b --limit 5
      heterodyne scale explain --json
    """
    import os

    from heterodyne.cli.admin_client import AdminClient

    page = AdminClient(url, os.environ.get(key_env)).scaling(model, limit)
    if as_json:
        print_json(page)
    else:
        print_scaling(page)


def print_scaling(page: "ScalingPage") -> None:
    """How things stand, then the decisions."""
    if page.mode == "off":
        click.echo('autoscaling.mode is "off"')
    if not page.models:
        click.echo("no pool has an `autoscaling` table that is looked at")
        return
    click.echo(f"leads: {page.leader or 'no gateway that is known'}")
    if page.apart:
        click.echo(f"nothing is changed: {page.apart}")
    for model in page.models:
        _print_model(model, page.mode)
    if page.decisions:
        click.echo("")
        print_table(
            ("at", "model", "step", "because", "otherwise"),
            [_row(one, step) for one in page.decisions for step in one.steps],
        )
    else:
        click.echo("\nnothing has been decided yet")


def _print_model(model: "ModelNowRow", mode: str) -> None:
    state = "paused" if model.is_paused else ("acts" if mode == "act" else "dry run")
    click.echo(
        f"{model.model} ({state}): {model.needed:.2f} usual requests/s are needed, {model.carried:.2f} are carried"
    )
    if model.short is not None:
        click.echo(f"  {model.short.requests_per_s:.2f} a second are missing: {model.short.because}")
        if model.short.mend:
            click.echo(f"    to mend it: {model.short.mend}")
    if model.held and model.told_wait_s is not None:
        click.echo(f"  {counted(model.held, 'request')} held, a first replica in about {model.told_wait_s:.0f} s")
    if model.yields is not None:
        click.echo(f"  changes nothing for a while: {model.yields}")
    for pool in model.pools:
        click.echo(
            f"  {pool.pool}: {pool.ready} ready, {pool.warming} starting, {pool.draining} draining, of {pool.minimum} "
            f"to {pool.maximum}"
        )
        basis = f"{counted(pool.cold_starts, 'start')} measured" if pool.cold_starts else "as the settings say"
        click.echo(f"    a start takes {pool.cold_start_s:.0f} s, {basis}")
        if pool.problem is not None:
            click.echo(f"    {pool.problem}")


def _row(decision: "DecisionRow", step: "StepRow") -> tuple[str, ...]:
    at = datetime.fromtimestamp(decision.at).astimezone().strftime("%d %b %H:%M:%S")
    what = step.kind.value if step.pool is None else f"{step.kind.value} {step.count} of {step.pool}"
    because = f"{step.because}. Not done: {step.outcome}" if step.outcome else step.because
    return at, decision.model, what, because, step.otherwise
