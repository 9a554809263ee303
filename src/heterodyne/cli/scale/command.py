"""`heterodyne scale`: what the autoscaler does, and why; one file per question."""

import click

from heterodyne.cli.scale.plan import plan


@click.group()
def scale() -> None:
    """Say what the autoscaler would do with a fleet, and why.

    \b
    Examples:
      heterodyne scale plan --fleet fleet.toml --trace trace.csv.gz
      heterodyne scale plan --fleet fleet.toml --rates day.csv
    """


scale.add_command(plan)
