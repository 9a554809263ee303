"""`heterodyne plan mix`: the cheapest mix of replicas, from a model and a request log or from numbers in a file."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from heterodyne.cli.arguments.prices import price_options
from heterodyne.cli.output import print_json
from heterodyne.cli.plan.pages.html_option import html_option, provenance, write_page

if TYPE_CHECKING:
    from heterodyne.cli.plan.mix_answer import PlannedMix

EXAMPLE = """\
# Which replicas, and how many of each, for this traffic? `heterodyne plan mix FILE` answers.
headroom = 0.1                # share of every replica left free
spot_share_max = 0.5          # of every bucket's traffic
survives_one_loss = true      # critical buckets still fit after any one replica is gone

[[buckets]]
name = "chat"                 # requests that are alike: similar lengths, one service level
requests_per_s = 40.0
is_critical = true

[[buckets]]
name = "documents"
requests_per_s = 2.0

[[stocks]]
name = "h100"                 # chips that several kinds draw on
available = 16
minimum = 0

[[kinds]]
name = "h100 x1"
usd_per_hour = 3.29
stock = "h100"
chips = 1
requests_per_s = { chat = 9.0, documents = 0.6 }   # within the service level; leave out what it cannot keep

[[kinds]]
name = "h100 x1 decode"
role = "decode"               # both (the default), prefill or decode
usd_per_hour = 3.29
stock = "h100"
requests_per_s = { chat = 14.0, documents = 3.0 }

[[kinds]]
name = "h100 x1 prefill"
role = "prefill"
usd_per_hour = 3.29
stock = "h100"
requests_per_s = { chat = 30.0, documents = 1.1 }

[[kinds]]
name = "l4 x1 spot"
usd_per_hour = 0.22
is_spot = true
missing_share = 0.02          # of the time that one is taken back and none serves in its place
available = 8                 # replicas of this kind
requests_per_s = { chat = 0.8, documents = 0.05 }
"""


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True), required=False)
@click.option("--example", is_flag=True, help="Print a commented file to start from.")
@click.option("--model", metavar="MODEL", help="A built-in name, a hub id, a config.json or a .gguf file.")
@click.option(
    "--traffic", type=click.Path(path_type=Path, dir_okay=False, exists=True), metavar="LOG", help="A request log."
)
@click.option("--precision", metavar="FORMAT", help="Of the weights, for example fp8; else what the model comes in.")
@click.option("--kv-precision", metavar="FORMAT", default="bf16", show_default=True, help="Of keys and values.")
@click.option(
    "--class",
    "workload_class",
    metavar="CLASS",
    default="interactive",
    show_default=True,
    help="interactive (500 ms, 50 ms), batch (2 s, 200 ms) or background (60 s, 500 ms): the targets not given below.",
)
@click.option("--slo-ttft-ms", type=float, metavar="MS", help="To the first token; else that of the class.")
@click.option("--slo-itl-ms", type=float, metavar="MS", help="Between tokens, on average; else that of the class.")
@click.option("--hardware", metavar="NAMES", help="Accelerators to choose from, by comma; else every one with a price.")
@click.option("--available", multiple=True, metavar="NAME=N", help="No more than N chips, spot included; repeatable.")
@click.option("--minimum", multiple=True, metavar="NAME=N", help="At least N chips, used or not; repeatable.")
@click.option(
    "--rate",
    metavar="R",
    default="peak",
    show_default=True,
    help="Requests per second to carry: peak (the log's busiest minute), mean, or a number.",
)
@click.option("--buckets", type=int, default=5, show_default=True, metavar="N", help="Bins of each length, at most 10.")
@click.option(
    "--share", type=float, default=0.99, show_default=True, metavar="SHARE", help="Of requests that keep both times."
)
@click.option(
    "--headroom",
    type=float,
    default=0.05,
    show_default=True,
    metavar="SHARE",
    help="Of every replica, free for other days than the log's: used up, twice as many as promised may be late.",
)
@click.option("--owned", multiple=True, metavar="NAME=N", help="Chips you have: they cost their power; repeatable.")
@click.option("--usd-per-kwh", type=float, default=0.0, show_default=True, metavar="USD", help="What power costs you.")
@click.option(
    "--power-overhead",
    type=float,
    default=1.3,
    show_default=True,
    metavar="X",
    help="The building's, times the chips'.",
)
@click.option(
    "--committed", multiple=True, metavar="NAME=N@USD", help="Chips at a contract's price by the hour; repeatable."
)
@price_options
@click.option(
    "--spot-share-max",
    type=float,
    default=0.0,
    show_default=True,
    metavar="SHARE",
    help="Of every bucket's traffic that may run on spot capacity.",
)
@click.option(
    "--critical-share",
    type=float,
    default=0.0,
    show_default=True,
    metavar="SHARE",
    help="Of every bucket's traffic that never runs on spot capacity and survives a loss.",
)
@click.option("--survives-one-loss", is_flag=True, help="Critical traffic still fits after any one replica is gone.")
@click.option("--roles", is_flag=True, help="Let prompts and answers go to different replicas.")
@click.option(
    "--kv-link-gb-per-s",
    type=float,
    default=21.75,
    show_default=True,
    metavar="GB",
    help="Speed between those, for each chip; the default is what 200 Gb/s carry.",
)
@click.option(
    "--write-problem",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the numbers, to edit.",
)
@click.option(
    "--fleet-file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the fleet, for `simulate` and `plan config`.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the plan as JSON.")
@html_option
def mix(
    *,
    file: Path | None,
    example: bool,
    model: str | None,
    traffic: Path | None,
    write_problem: Path | None,
    fleet_file: Path | None,
    as_json: bool,
    html_file: Path | None,
    **options: object,
) -> None:
    """Find the cheapest mix of replica kinds for your traffic.

    From a model and a request log: lengths become buckets, every accelerator with a price becomes kinds whose rates
    within the promise come from the performance model, and the fleet is held against the simulator under your log.
    Or from a FILE with your own numbers.

    \b
    Examples:
      heterodyne plan mix --model llama-3.1-70b --precision fp8 --traffic trace.csv.gz
      heterodyne plan mix --model llama-3.1-70b --traffic trace.csv.gz --class batch --hardware h100,mi300x --roles
      heterodyne plan mix --model mistral-7b --traffic records.jsonl --available l4=16 --write-problem mix.toml
      heterodyne plan mix --model mistral-7b --traffic records.jsonl --owned a100=8 --fleet-file fleet.toml
      heterodyne plan mix --example > mix.toml
      heterodyne plan mix mix.toml --html mix.html
    """
    if example:
        click.echo(EXAMPLE, nl=False)
        return
    if (file is None) == (model is None or traffic is None):
        raise click.UsageError(
            "name a model and a log with --model and --traffic, or a file; --example prints one to start from"
        )
    from heterodyne.cli.plan.mix_answer import answered, asked, solved
    from heterodyne.cli.plan.mix_file import read_problem
    from heterodyne.cli.plan.mix_file import write_problem as write
    from heterodyne.cli.plan.mix_tables import print_mix

    if file is not None:
        _refuse_options()
        answer = solved(read_problem(file), as_json=as_json)
    else:
        question, problem = asked({"model": model, "traffic": traffic, **options}, as_json=as_json)
        if write_problem is not None:
            write(problem, write_problem)
        answer = answered(question, problem, model or "", as_json=as_json)
    if fleet_file is not None:
        _write_fleet(fleet_file, answer)
    if html_file is not None:
        from heterodyne.cli.plan.pages.mix import mix_page

        write_page(html_file, mix_page(answer.problem, answer.plan, seen=answer.seen, provenance=provenance()))
    if as_json:
        print_json(answer.as_json())
    else:
        print_mix(answer)


def _write_fleet(file: Path, answer: "PlannedMix") -> None:
    from heterodyne.cli.plan.fleet_files import write

    if answer.fleet is None:
        raise click.UsageError("--fleet-file: a fleet is written of a model and a log, without --roles")
    write(file, answer.fleet)


def _refuse_options() -> None:
    """A file has everything; an option beside it would be silently ignored."""
    context = click.get_current_context()
    given = [
        option.opts[0]
        for option in context.command.params
        if option.name not in ("file", "as_json", "html_file")
        and option.name is not None
        and context.get_parameter_source(option.name) is click.core.ParameterSource.COMMANDLINE
    ]
    if given:
        raise click.UsageError(f"{', '.join(given)}: a file says it all; change it there, or leave the file out")
