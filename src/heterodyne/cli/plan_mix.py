"""`heterodyne plan mix`: traffic, kinds and promises in a file; the cheapest mix out."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from heterodyne.cli.output import print_json, print_table

if TYPE_CHECKING:
    from heterodyne.planning.mix_problem import MixProblem

EXAMPLE = """\
# Which replicas, and how many of each, for this traffic? `heterodyne plan mix FILE` answers.
headroom = 0.1                # share of every replica left free
spot_share_max = 0.5          # of all replicas
survives_one_loss = true      # critical buckets still fit after any one replica is gone

[[buckets]]
name = "chat"                 # requests that are alike: similar lengths, one service level
requests_per_s = 40.0
is_critical = true

[[buckets]]
name = "documents"
requests_per_s = 2.0

[[kinds]]
name = "h100 x1"
usd_per_hour = 3.29
available = 16
requests_per_s = { chat = 9.0, documents = 0.6 }   # within the service level; leave out what it cannot keep

[[kinds]]
name = "l4 x1 spot"
usd_per_hour = 0.22
is_spot = true
requests_per_s = { chat = 0.8, documents = 0.05 }
"""


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True), required=False)
@click.option("--example", is_flag=True, help="Print a commented file to start from.")
@click.option("--json", "as_json", is_flag=True, help="Print the plan as JSON.")
def mix(file: Path | None, example: bool, as_json: bool) -> None:
    """Find the cheapest mix of replica kinds for a traffic histogram.

    \b
    Examples:
      heterodyne plan mix --example > mix.toml
      heterodyne plan mix mix.toml
      heterodyne plan mix mix.toml --json
    """
    if example:
        click.echo(EXAMPLE, nl=False)
        return
    if file is None:
        raise click.UsageError("name a file, or print one to start from with --example")
    from heterodyne.planning.mix import cheapest_mix

    problem = _read(file)
    plan = cheapest_mix(problem)
    if as_json:
        print_json(plan)
        return
    prices = {kind.name: kind.usd_per_hour for kind in problem.kinds}
    rows = [
        [name, str(count), f"{plan.utilisation[name]:.0%}", f"{count * prices[name]:,.2f}"]
        for name, count in plan.replicas.items()
    ]
    print_table(("KIND", "REPLICAS", "BUSY", "USD/HOUR"), [*rows, ["together", "", "", f"{plan.usd_per_hour:,.2f}"]])
    click.echo()
    print_table(
        ("BUCKET", "SERVED BY"),
        [
            [bucket, ", ".join(f"{name} {share:.0%}" for name, share in shares.items())]
            for bucket, shares in plan.shares.items()
        ],
    )
    alone = plan.single_kind_usd_per_hour
    if alone:
        best = min(alone, key=alone.__getitem__)
        saved = 1 - plan.usd_per_hour / alone[best] if alone[best] else 0.0
        click.echo(f"\n{saved:.0%} cheaper than the best single kind, {best} at {alone[best]:,.2f} USD/hour")
    else:
        click.echo("\nno single kind could do it alone")


def _read(file: Path) -> "MixProblem":
    import tomllib

    import msgspec

    from heterodyne.domain.errors import InvalidSpec
    from heterodyne.planning.mix_problem import MixProblem

    try:
        return msgspec.convert(tomllib.loads(file.read_text(encoding="utf-8")), MixProblem)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise InvalidSpec(f"{file}: {error}") from error
