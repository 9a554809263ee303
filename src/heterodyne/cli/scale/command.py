"""`heterodyne scale`: what the autoscaler does, and why; one file per question."""

import click

from heterodyne.cli.scale.explain import explain
from heterodyne.cli.scale.pause import pause, resume
from heterodyne.cli.scale.plan import plan


@click.group()
def scale() -> None:
    """Say what the autoscaler does with a fleet, or would do, and why.

    \b
    Examples:
      heterodyne scale explain
      heterodyne scale pause llama-3.1-8b
      heterodyne scale plan --fleet fleet.toml --trace trace.csv.gz
      heterodyne scale plan --fleet fleet.toml --rates day.csv
    """


scale.add_command(plan)
scale.add_command(explain)
scale.add_command(pause)
scale.add_command(resume)
