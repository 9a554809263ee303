"""`heterodyne plan`: questions answered before any hardware is bought or booked; one file per question."""

import click

from heterodyne.cli.plan.config import config
from heterodyne.cli.plan.hardware import hardware
from heterodyne.cli.plan.memory import memory
from heterodyne.cli.plan.mix import mix
from heterodyne.cli.plan.traffic import traffic


@click.group()
def plan() -> None:
    """Answer what fits where, before any hardware is bought.

    \b
    Examples:
      heterodyne plan memory --model llama-3.1-70b --hardware h100-sxm --precision fp8 --tp 2
      heterodyne plan hardware --model llama-3.1-70b --precision fp8 --slo-ttft-ms 500
      heterodyne plan config --model llama-3.1-70b --hardware mi300x --precision fp8 --tp 2
      heterodyne plan mix --model llama-3.1-70b --precision fp8 --traffic trace.csv.gz
      heterodyne plan traffic records.jsonl
    """


plan.add_command(memory)
plan.add_command(hardware)
plan.add_command(mix)
plan.add_command(traffic)
plan.add_command(config)
