"""`heterodyne simulate`: a fleet that need not exist under a trace that did, through the router that serves."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from heterodyne.cli.output import print_json, print_table
from heterodyne.cli.progress import counting
from heterodyne.domain.counted import counted

if TYPE_CHECKING:
    from heterodyne.physics.serving import Slo
    from heterodyne.simulator.beside import BatchReport
    from heterodyne.simulator.fleet import LaidOutPool
    from heterodyne.simulator.report import SimulationReport
    from heterodyne.simulator.workload import Workload


DEFAULT_POLICIES = ("slo",)


class SimulateOptions(Struct, frozen=True, kw_only=True):
    """As they came from the command line."""

    fleet_file: Path
    trace: Path
    policies: tuple[str, ...]
    model: str | None
    seed: int
    load: float | None
    rate: float | None
    requests: int | None
    slo_ttft_ms: float
    slo_itl_ms: float
    gauge_interval_s: float
    batch_lines: int | None
    batch_group: int
    batch_tokens: tuple[int, int, int]
    as_json: bool


@click.command()
@click.option(
    "--fleet",
    "fleet_file",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    metavar="FILE",
    help="TOML with [pools.NAME]: model, hardware, tp, engine, replicas, price; the settings file will do.",
)
@click.option(
    "--trace",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    metavar="FILE",
    help="A log of requests, in any form that `plan traffic` reads.",
)
@click.option(
    "--policy", "policies", multiple=True, metavar="NAME", help="How to route; several give a row each. [slo]"
)
@click.option("--model", metavar="NAME", help="Whose pools are meant, where the fleet serves several.")
@click.option("--seed", type=int, default=7, show_default=True, metavar="N", help="The same seed, the same report.")
@click.option("--load", type=float, metavar="X", help="Scale the trace to this share of the fleet's capacity for it.")
@click.option("--rate", type=float, metavar="R", help="Scale the trace to so many requests a second.")
@click.option("--requests", type=int, metavar="N", help="The first N requests; repeated where the trace has fewer.")
@click.option("--slo-ttft-ms", type=float, default=1000.0, show_default=True, metavar="MS", help="To the first token.")
@click.option("--slo-itl-ms", type=float, default=50.0, show_default=True, metavar="MS", help="Between two tokens.")
@click.option(
    "--gauge-interval-s",
    type=float,
    default=0.5,
    show_default=True,
    metavar="S",
    help="How often the router is told the replicas' gauges, a quarter of them read anew each time.",
)
@click.option(
    "--batch-lines",
    type=click.IntRange(min=1),
    metavar="N",
    help="A batch of N lines beside the trace: how fast it is, and what it does to the trace. One policy only.",
)
@click.option(
    "--batch-group",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    metavar="N",
    help="Lines of the batch that begin alike.",
)
@click.option(
    "--batch-tokens",
    nargs=3,
    type=click.IntRange(min=1),
    default=(512, 64, 64),
    show_default=True,
    metavar="SHARED OWN OUT",
    help="Tokens of a line: of its prompt, shared within its group and its own, and of its answer.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the reports as JSON.")
def simulate(**options: Any) -> None:
    """Say how a fleet would have served a trace under one policy or several, without any of its hardware.

    Replicas are step machines at the speed of the performance model; the router is the one that `serve` runs. With
    neither --load nor --rate requests come as they were recorded.

    \b
    Examples:
      heterodyne simulate --fleet fleet.toml --trace trace.jsonl.gz --load 0.8
      heterodyne simulate --fleet fleet.toml --trace trace.csv.gz --policy slo --policy cost --policy round-robin
      heterodyne simulate --fleet heterodyne.toml --trace records.jsonl --rate 40 --requests 20000 --json
      heterodyne simulate --fleet fleet.toml --trace trace.csv.gz --load 0.6 --batch-lines 50000
    """
    from heterodyne.physics.serving import Slo

    given = SimulateOptions(**options)
    _check(given)
    slo = Slo(ttft_s=given.slo_ttft_ms / 1000, itl_s=given.slo_itl_ms / 1000)
    pools, left_out = _pools(given)
    traffic = _traffic(given, pools, slo)
    if left_out:
        click.echo(f"left out, since they name no hardware: {', '.join(left_out)}", err=True)
    click.echo(f"speeds from: {', '.join(f'{pool.name} {pool.basis}' for pool in pools)}", err=True)
    if given.batch_lines is not None:
        _print_batch(_beside(given, pools, traffic, slo), as_json=given.as_json)
        return
    reports = [_simulated(policy, given, pools, traffic, slo) for policy in given.policies or DEFAULT_POLICIES]
    if given.as_json:
        print_json(reports)
    else:
        _print(reports)


def _check(options: SimulateOptions) -> None:
    from heterodyne.domain.errors import InvalidSpec
    from heterodyne.routing.catalogue import check_policy

    if options.load is not None and options.rate is not None:
        raise InvalidSpec("--load and --rate: both say how often requests come; give one of them")
    for name, number in (
        ("--load", options.load),
        ("--slo-ttft-ms", options.slo_ttft_ms),
        ("--slo-itl-ms", options.slo_itl_ms),
        ("--gauge-interval-s", options.gauge_interval_s),
    ):
        if number is not None and not number > 0:
            raise InvalidSpec(f"{name}: {number:g} is not above zero")
    for policy in options.policies or DEFAULT_POLICIES:
        check_policy(policy)
    if options.batch_lines is not None and len(options.policies) > 1:
        raise InvalidSpec("--policy: a batch is simulated under one; give --batch-lines with one policy at a time")


def _pools(options: SimulateOptions) -> "tuple[tuple[LaidOutPool, ...], tuple[str, ...]]":
    """Those of the fleet file, and the names of those that cannot be simulated."""
    from heterodyne.cli.arguments.catalogue import catalogue, own_profiles
    from heterodyne.cli.arguments.model import model_from
    from heterodyne.config.settings import NAMED, SECTIONS
    from heterodyne.simulator.fleet import lay_out
    from heterodyne.simulator.fleet_file import read_fleet

    file = read_fleet(options.fleet_file, tables=(*SECTIONS, *NAMED))
    pools = lay_out(file, model=options.model, catalogue=catalogue(), measured=own_profiles(), model_from=model_from)
    return pools, file.left_out


def _traffic(options: SimulateOptions, pools: "tuple[LaidOutPool, ...]", slo: "Slo") -> "Workload":
    """The trace at the rate that is asked for."""
    from heterodyne.registry.request_log.read import read_request_log
    from heterodyne.simulator.capacity import capacity_rps
    from heterodyne.simulator.workload import workload

    log = read_request_log(options.trace)
    traffic = workload(log, rate=options.rate, requests=options.requests)
    if options.load is None:
        return traffic
    capacity = capacity_rps(pools, traffic, slo)
    traffic = workload(log, rate=options.load * capacity, requests=options.requests)
    click.echo(f"capacity for this trace: {capacity:.1f} requests/s; {options.load:g} of it is asked for", err=True)
    return traffic


def _simulated(
    policy: str, options: SimulateOptions, pools: "tuple[LaidOutPool, ...]", traffic: "Workload", slo: "Slo"
) -> "SimulationReport":
    from time import perf_counter

    from heterodyne.simulator.report import report
    from heterodyne.simulator.run import run
    from heterodyne.simulator.trial import Trial

    begun_s = perf_counter()
    trial = Trial(policy=policy, seed=options.seed, slo=slo, gauge_interval_s=options.gauge_interval_s)
    with counting(policy, traffic.requests, is_json=options.as_json) as on_arrivals:
        done = report(run(pools, traffic, trial, on_arrivals=on_arrivals), trial)
    took_s = perf_counter() - begun_s
    click.echo(f"{policy}: {done.requests / took_s:,.0f} requests simulated a second", err=True)
    return done


def _beside(
    options: SimulateOptions, pools: "tuple[LaidOutPool, ...]", traffic: "Workload", slo: "Slo"
) -> "BatchReport":
    from heterodyne.simulator.batch import SimulatedBatch
    from heterodyne.simulator.beside import batch_beside
    from heterodyne.simulator.trial import Trial

    assert options.batch_lines is not None
    shared, own, output = options.batch_tokens
    batch = SimulatedBatch(
        lines=options.batch_lines,
        groups=-(-options.batch_lines // options.batch_group),
        shared_tokens=shared,
        own_tokens=own,
        output_tokens=output,
    )
    [policy] = options.policies or DEFAULT_POLICIES
    trial = Trial(policy=policy, seed=options.seed, slo=slo, gauge_interval_s=options.gauge_interval_s)
    return batch_beside(pools, traffic, trial, batch)


def _print_batch(found: "BatchReport", *, as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    left = found.left_over_lines_per_s
    share = f", {found.lines_per_s / left:.2f} of it" if left else ""
    click.echo(
        f"within: {found.attainment_without:.2%} without the batch, {found.attainment_with:.2%} beside it\n"
        f"left over: {left:.1f} lines/s, {1 - found.load:.2f} of {found.alone_lines_per_s:.1f} alone\n"
        f"answered: {counted(found.lines, 'line')}, {found.lines_per_s:.1f} lines/s{share}; "
        f"{found.prefix_hit_share:.0%} of their prompts was in memory\n"
    )
    print_table(
        ("pool", "lines/s", "in flight"),
        [(one.pool, f"{one.lines_per_s:.1f}", f"{one.in_flight_mean:.1f}") for one in found.pools],
    )


def _print(reports: "list[SimulationReport]") -> None:
    first = reports[0]
    refused = f" ({first.refused} too long for all of them)" if first.refused else ""
    click.echo(
        f"{counted(first.requests, 'request')} on {counted(first.replicas, 'replica')}{refused}, "
        f"within {first.slo_ttft_s * 1000:g} ms to the first token and {first.slo_itl_s * 1000:g} ms a token\n"
    )
    header = (
        "policy",
        "within",
        "ttft p50",
        "ttft p99",
        "itl p50",
        "itl p99",
        "total p50",
        "usd",
        "usd busy",
        "usd/1M within",
        "prefix hits",
        "hottest/mean",
        "req/s",
    )
    print_table(header, [_row(one) for one in reports])
    if len(reports) == 1:
        click.echo()
        print_table(
            ("pool", "replicas", "requests", "busy", "prefix hits", "usd"),
            [
                (
                    pool.pool,
                    str(pool.replicas),
                    str(pool.requests),
                    f"{pool.busy_share:.1%}",
                    f"{pool.prefix_hit_share:.1%}",
                    _usd(pool.usd),
                )
                for pool in first.pools
            ],
        )


def _row(one: "SimulationReport") -> tuple[str, ...]:
    return (
        one.policy,
        f"{one.attainment:.1%}",
        f"{one.ttft.p50_s * 1000:.0f} ms",
        f"{one.ttft.p99_s * 1000:.0f} ms",
        f"{one.itl.p50_s * 1000:.1f} ms",
        f"{one.itl.p99_s * 1000:.1f} ms",
        f"{one.total.p50_s:.2f} s",
        _usd(one.usd),
        _usd(one.usd_busy),
        _usd(one.usd_per_million_output_tokens_within_slo),
        f"{one.prefix_hit_share:.1%}",
        f"{one.inside_hottest / one.inside_mean:.2f}" if one.inside_mean else "-",
        f"{one.requests_per_s:.1f}",
    )


def _usd(amount: float | None) -> str:
    return "-" if amount is None else f"{amount:.2f}"
