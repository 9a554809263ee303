"""`heterodyne scale plan`: a fleet that may grow and shrink under a log that did come, before anything is rented."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct, structs

from heterodyne.cli.output import print_json, print_table
from heterodyne.cli.progress import counting
from heterodyne.domain.counted import counted

if TYPE_CHECKING:
    from heterodyne.planning.traffic.trace_request import TraceRequest
    from heterodyne.simulator.fleet_file import FleetFile
    from heterodyne.simulator.promise import Promise
    from heterodyne.simulator.rehearsed_scaling import RehearsedScaling, ScalingStep

SLO_TTFT_MS, SLO_ITL_MS, SHARE = 1000.0, 50.0, 0.99  # where the fleet file promises nothing
LENGTHS = 4000  # requests that a curve's lengths are drawn from
FILE = click.Path(path_type=Path, dir_okay=False, exists=True)


class ScalePlanOptions(Struct, frozen=True, kw_only=True):
    """As they came from the command line."""

    fleet_file: Path
    trace: Path | None
    rates: Path | None
    model: str | None
    seed: int
    spare: int
    budget_usd_per_hour: float | None
    no_forecast: bool
    as_json: bool


@click.command()
@click.option(
    "--fleet",
    "fleet_file",
    required=True,
    type=FILE,
    metavar="FILE",
    help="TOML with [pools.NAME], each with a table `autoscaling`: minimum, maximum, cold_start_s.",
)
@click.option("--trace", type=FILE, metavar="FILE", help="A log of requests, in any form that `plan traffic` reads.")
@click.option(
    "--rates",
    type=FILE,
    metavar="FILE",
    help="Or a curve, as lines of SECONDS,REQUESTS_PER_SECOND; lengths are the plan's, or those of --trace.",
)
@click.option("--model", metavar="NAME", help="Whose pools are meant, where the fleet serves several.")
@click.option("--seed", type=int, default=7, show_default=True, metavar="N", help="The same seed, the same answer.")
@click.option(
    "--spare", type=click.IntRange(min=0), default=0, show_default=True, metavar="N", help="Replicas in reserve."
)
@click.option(
    "--budget-usd-per-hour", type=click.FloatRange(min=0), metavar="USD", help="What all pools may cost at once."
)
@click.option("--no-forecast", is_flag=True, help="Leave the time of day out: only what comes counts.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
def plan(**options: Any) -> None:
    """Say when the autoscaler would have added and drained replicas, why, and what that would have come to.

    The pure code that decides is driven by simulated replicas; nothing is started and nothing is rented. What replicas
    carry within the promise is found by simulating them first, which takes some seconds for every pool.

    \b
    Examples:
      heterodyne scale plan --fleet fleet.toml --trace trace.csv.gz
      heterodyne scale plan --fleet fleet.toml --rates day.csv --spare 1
      heterodyne scale plan --fleet fleet.toml --trace trace.jsonl --budget-usd-per-hour 20 --json
    """
    given = ScalePlanOptions(**options)
    found = _rehearsed(given)
    if given.as_json:
        print_json(found)
    else:
        _print(found)


def _rehearsed(options: ScalePlanOptions) -> "RehearsedScaling":
    from heterodyne.cli.arguments.catalogue import catalogue, own_profiles
    from heterodyne.cli.arguments.model import model_from
    from heterodyne.config.settings import NAMED, SECTIONS
    from heterodyne.simulator.fleet import lay_out
    from heterodyne.simulator.fleet_file import read_fleet
    from heterodyne.simulator.rehearsed_scaling import ScalingTerms, rehearse_scaling

    file = _at_most(options.fleet_file, read_fleet(options.fleet_file, tables=(*SECTIONS, *NAMED)))
    pools = lay_out(file, model=options.model, catalogue=catalogue(), measured=own_profiles(), model_from=model_from)
    promise = _promise(file)
    log = _log(options, promise)
    tables = {name: pool.autoscaling for name, pool in file.pools.items() if pool.autoscaling is not None}
    with counting("requests", len(log), is_json=options.as_json) as on_arrivals:
        return rehearse_scaling(
            pools,
            tables,
            log,
            ScalingTerms(
                promise=promise,
                policy="slo",
                seed=options.seed,
                spare=options.spare,
                budget_usd_per_hour=options.budget_usd_per_hour,
                forecasts=not options.no_forecast,
            ),
            on_arrivals=on_arrivals,
        )


def _at_most(path: Path, file: "FleetFile") -> "FleetFile":
    """Every pool with as many replicas as it may have."""
    from heterodyne.domain.errors import InvalidSpec

    pools = {}
    for name, pool in file.pools.items():
        table = pool.autoscaling
        if table is None:
            raise InvalidSpec(
                f"{path}: pools.{name}: it says nothing of growing; add [pools.{name}.autoscaling] with minimum and "
                "maximum"
            )
        pools[name] = structs.replace(pool, replicas=table.maximum)
    return structs.replace(file, pools=pools)


def _promise(file: "FleetFile") -> "Promise":
    from heterodyne.simulator.promise import Promise

    return file.promise or Promise(ttft_ms=SLO_TTFT_MS, itl_ms=SLO_ITL_MS, share=SHARE)


def _log(options: ScalePlanOptions, promise: "Promise") -> "list[TraceRequest]":
    from heterodyne.domain.errors import InvalidSpec
    from heterodyne.registry.request_log.read import read_request_log
    from heterodyne.simulator.rate_curve import drawn, read_rates
    from heterodyne.simulator.usual_traffic import usual_traffic

    if options.trace is None and options.rates is None:
        raise InvalidSpec("--trace or --rates: say what comes, by a log of requests or a curve of rates")
    lengths = list(read_request_log(options.trace)) if options.trace is not None else []
    if options.rates is None:
        return lengths
    if not lengths:
        if promise.prompt_tokens is None or promise.output_tokens is None:
            raise InvalidSpec("--rates: the fleet file says nothing of the length of requests; name a --trace of them")
        lengths = usual_traffic(
            prompt_tokens=promise.prompt_tokens,
            output_tokens=promise.output_tokens,
            requests=LENGTHS,
            seed=options.seed,
        )
    return drawn(read_rates(options.rates), lengths, seed=options.seed)


def _print(found: "RehearsedScaling") -> None:
    begins = ", ".join(f"{counted(count, 'replica')} of {pool}" for pool, count in found.first.items())
    click.echo(f"begins with {begins}\n")
    if found.steps:
        print_table(("at", "action", "pool", "replicas", "because"), [_row(one) for one in found.steps])
    else:
        click.echo("nothing is added and nothing drained")
    one = found.report
    saved = 1.0 - one.replica_hours / found.fixed_replica_hours if found.fixed_replica_hours else 0.0
    click.echo(
        f"\n{one.attainment:.2%} of {counted(one.requests, 'request')} within the promise, {one.failures} far too late "
        f"or refused\n{one.replica_hours:.1f} replica-hours, {one.usd:.2f} USD; always {found.most} would be "
        f"{found.fixed_replica_hours:.1f} ({saved:.0%} saved)\n"
        f"{counted(round(one.turns_per_hour), 'change')} of direction in the hour that has most"
    )
    if one.told:
        click.echo(
            f"{counted(one.told, 'request')} came while nothing was ready: told {one.told_mean_s:.0f} s on average, "
            f"held {one.waited_mean_s:.0f} s"
        )


def _row(step: "ScalingStep") -> tuple[str, ...]:
    minutes, seconds = divmod(round(step.at_s), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}", step.action, step.pool, str(step.count), step.because
