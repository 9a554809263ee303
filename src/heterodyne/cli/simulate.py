"""`heterodyne simulate`: a fleet that need not exist under a trace that did, through the router that serves."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from heterodyne.cli.output import print_json, print_table
from heterodyne.cli.progress import counting
from heterodyne.cli.simulate_batch_options import batch_options
from heterodyne.domain.counted import counted
from heterodyne.domain.routing_rule import KvStrategy

if TYPE_CHECKING:
    from heterodyne.physics.serving import Slo
    from heterodyne.planning.traffic.trace_request import TraceRequest
    from heterodyne.simulator.fleet import LaidOutPool
    from heterodyne.simulator.fleet_file import FleetFile
    from heterodyne.simulator.promise import Promise
    from heterodyne.simulator.report import SimulationReport
    from heterodyne.simulator.trial import Trial
    from heterodyne.simulator.workload import Workload


DEFAULT_POLICIES = ("slo",)
SLO_TTFT_MS, SLO_ITL_MS, SHARE = 1000.0, 50.0, 0.99  # unless somebody says otherwise
REQUESTS = 2000  # where there is no log


class SimulateOptions(Struct, frozen=True, kw_only=True):
    """As they came from the command line."""

    fleet_file: Path
    trace: Path | None
    policies: tuple[str, ...]
    model: str | None
    seed: int
    load: float | None
    rate: float | None
    requests: int | None
    slo_ttft_ms: float | None
    slo_itl_ms: float | None
    share: float | None
    recorded_pace: bool
    gauge_interval_s: float
    kv: str
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
    help="TOML with [pools.NAME]: model, hardware, tp, engine, replicas, price; a plan's, or the settings.",
)
@click.option(
    "--trace",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    metavar="FILE",
    help="A log of requests, in any form that `plan traffic` reads; else requests of the plan's length.",
)
@click.option(
    "--policy", "policies", multiple=True, metavar="NAME", help="How to route; several give a row each. [slo]"
)
@click.option("--model", metavar="NAME", help="Whose pools are meant, where the fleet serves several.")
@click.option("--seed", type=int, default=7, show_default=True, metavar="N", help="The same seed, the same report.")
@click.option("--load", type=float, metavar="X", help="Scale the trace to this share of the fleet's capacity for it.")
@click.option("--rate", type=float, metavar="R", help="Scale the trace to so many requests a second; else the plan's.")
@click.option("--recorded-pace", is_flag=True, help="Leave times as they were recorded, whatever was planned for.")
@click.option("--requests", type=int, metavar="N", help="The first N requests; repeated where the trace has fewer.")
@click.option("--slo-ttft-ms", type=float, metavar="MS", help="To the first token; else as planned, or 1000.")
@click.option("--slo-itl-ms", type=float, metavar="MS", help="Between two tokens; else as planned, or 50.")
@click.option(
    "--share", type=float, metavar="SHARE", help="Of requests that is promised both; else as planned, or 0.99."
)
@click.option(
    "--gauge-interval-s",
    type=float,
    default=0.5,
    show_default=True,
    metavar="S",
    help="How often the router is told the replicas' gauges, a quarter of them read anew each time.",
)
@click.option(
    "--kv", type=click.Choice([*map(str, KvStrategy)]), default="prefix", help="As `models.<name>.kv`. [prefix]"
)
@batch_options
@click.option("--json", "as_json", is_flag=True, help="Print the reports as JSON.")
def simulate(**options: Any) -> None:
    """Say how a fleet would have served a trace under one policy or several, without any of its hardware.

    Replicas are step machines at the speed of the performance model; the router is the one that `serve` runs. A fleet
    file that a plan wrote says what was promised and at which rate; without it, requests come as they were recorded.

    \b
    Examples:
      heterodyne simulate --fleet fleet.toml
      heterodyne simulate --fleet fleet.toml --trace trace.jsonl.gz --load 0.8
      heterodyne simulate --fleet fleet.toml --trace trace.csv.gz --policy slo --policy cost --policy round-robin
      heterodyne simulate --fleet heterodyne.toml --trace records.jsonl --rate 40 --requests 20000 --json
      heterodyne simulate --fleet fleet.toml --trace trace.csv.gz --load 0.6 --batch-lines 50000
    """
    given = SimulateOptions(**options)
    _check(given)
    file = _fleet_file(given)
    promise = _promise(given, file)
    pools = _pools(given, file)
    traffic = _traffic(given, pools, promise, file.promise)
    if file.left_out:
        click.echo(f"left out, since they name no hardware: {', '.join(file.left_out)}", err=True)
    click.echo(f"speeds from: {', '.join(f'{pool.name} {pool.basis}' for pool in pools)}", err=True)
    if given.batch_lines is not None:
        _simulate_batch(given, pools, traffic, promise, file.promise)
        return
    reports = [_simulated(policy, given, pools, traffic, promise.slo) for policy in given.policies or DEFAULT_POLICIES]
    if given.as_json:
        print_json(reports)
    else:
        _print(reports, promise.share)


def _check(options: SimulateOptions) -> None:
    from heterodyne.domain.errors import InvalidSpec
    from heterodyne.routing.catalogue import check_policy

    if sum(one is not None for one in (options.load, options.rate, options.recorded_pace or None)) > 1:
        raise InvalidSpec("--load, --rate and --recorded-pace: each says how often requests come; give one of them")
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


def _fleet_file(options: SimulateOptions) -> "FleetFile":
    from heterodyne.config.settings import NAMED, SECTIONS
    from heterodyne.simulator.fleet_file import read_fleet

    return read_fleet(options.fleet_file, tables=(*SECTIONS, *NAMED))


def _promise(options: SimulateOptions, file: "FleetFile") -> "Promise":
    """What the options say, else the plan, else what is usual."""
    from heterodyne.domain.errors import InvalidSpec
    from heterodyne.simulator.promise import Promise

    planned = file.promise
    share = options.share or (planned.share if planned else SHARE)
    if not 0 < share < 1:
        raise InvalidSpec(f"--share: {share:g} is not between 0 and 1")
    return Promise(
        ttft_ms=options.slo_ttft_ms or (planned.ttft_ms if planned else SLO_TTFT_MS),
        itl_ms=options.slo_itl_ms or (planned.itl_ms if planned else SLO_ITL_MS),
        share=share,
    )


def _pools(options: SimulateOptions, file: "FleetFile") -> "tuple[LaidOutPool, ...]":
    from heterodyne.cli.arguments.catalogue import catalogue, own_profiles
    from heterodyne.cli.arguments.model import model_from
    from heterodyne.simulator.fleet import lay_out

    return lay_out(file, model=options.model, catalogue=catalogue(), measured=own_profiles(), model_from=model_from)


def _traffic(
    options: SimulateOptions, pools: "tuple[LaidOutPool, ...]", promise: "Promise", planned: "Promise | None"
) -> "Workload":
    """The trace at the rate that is asked for."""
    from heterodyne.simulator.capacity import capacity_rps
    from heterodyne.simulator.workload import workload

    log = _log(options, planned)
    rate = options.rate
    if options.load is not None:
        trial = _trial(options, (options.policies or DEFAULT_POLICIES)[0], promise.slo)
        capacity = capacity_rps(pools, log, trial, share=promise.share)
        click.echo(
            f"capacity for this trace: {capacity:.1f} requests/s, at which {promise.share:.4g} of them are within both "
            f"times; {options.load:g} of it is asked for",
            err=True,
        )
        rate = options.load * capacity
    elif rate is None and planned is not None and planned.requests_per_s and not options.recorded_pace:
        rate = planned.requests_per_s
        click.echo(f"at the {rate:g} requests/s of the plan", err=True)
    return workload(log, rate=rate, requests=options.requests)


def _simulate_batch(
    options: SimulateOptions,
    pools: "tuple[LaidOutPool, ...]",
    traffic: "Workload",
    promise: "Promise",
    planned: "Promise | None",
) -> None:
    from heterodyne.cli.simulate_batch import batch_of, print_batch
    from heterodyne.simulator.beside import batch_beside
    from heterodyne.simulator.capacity import capacity_rps

    assert options.batch_lines is not None
    batch = batch_of(options.batch_lines, group=options.batch_group, tokens=options.batch_tokens)
    trial = _trial(options, (options.policies or DEFAULT_POLICIES)[0], promise.slo)
    capacity = capacity_rps(pools, _log(options, planned), trial, share=promise.share)
    found = batch_beside(pools, traffic, trial, batch, capacity_rps=capacity)
    if options.as_json:
        print_json(found)
    else:
        print_batch(found)


def _log(options: SimulateOptions, planned: "Promise | None") -> "list[TraceRequest]":
    from heterodyne.domain.errors import InvalidSpec
    from heterodyne.registry.request_log.read import read_request_log
    from heterodyne.simulator.usual_traffic import usual_traffic

    if options.trace is not None:
        return read_request_log(options.trace)
    if planned is None or planned.prompt_tokens is None or planned.output_tokens is None:
        raise InvalidSpec("--trace: the fleet file says nothing of the length of requests; name a log of them")
    return usual_traffic(
        prompt_tokens=planned.prompt_tokens,
        output_tokens=planned.output_tokens,
        requests=options.requests or REQUESTS,
        seed=options.seed,
    )


def _trial(options: SimulateOptions, policy: str, slo: "Slo") -> "Trial":
    from heterodyne.simulator.trial import Trial

    kv, interval_s = KvStrategy(options.kv), options.gauge_interval_s
    return Trial(policy=policy, seed=options.seed, slo=slo, gauge_interval_s=interval_s, kv=kv)


def _simulated(
    policy: str, options: SimulateOptions, pools: "tuple[LaidOutPool, ...]", traffic: "Workload", slo: "Slo"
) -> "SimulationReport":
    from time import perf_counter

    from heterodyne.simulator.report import report
    from heterodyne.simulator.run import run

    begun_s = perf_counter()
    trial = _trial(options, policy, slo)
    with counting(policy, traffic.requests, is_json=options.as_json) as on_arrivals:
        done = report(run(pools, traffic, trial, on_arrivals=on_arrivals), trial)
    took_s = perf_counter() - begun_s
    click.echo(f"{policy}: {done.requests / took_s:,.0f} requests simulated a second", err=True)
    return done


def _print(reports: "list[SimulationReport]", share: float) -> None:
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
    click.echo()
    for one in reports:
        kept = "keeps" if one.attainment >= share else "breaks"
        click.echo(f"{one.policy} {kept} the promise: {one.attainment:.1%} of requests within, {share:.4g} promised")
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
