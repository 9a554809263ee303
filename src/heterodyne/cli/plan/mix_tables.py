"""A mix as tables for people: what to rent, who serves what, and what it saves."""

from collections.abc import Iterable, Iterator, Mapping

import click

from heterodyne.cli.output import print_table
from heterodyne.cli.plan.mix_answer import PlannedMix
from heterodyne.domain.replica_role import ReplicaRole
from heterodyne.planning.mix.interruptions import SURE, hourly_usd, rented, serving_usd
from heterodyne.planning.mix.problem import MixPlan, ReplicaKind
from heterodyne.simulator.rehearsed_mix import RehearsedMix
from heterodyne.simulator.report import SimulationReport

SHOWN_MIN = 0.005  # a share that rounds to nothing


def print_mix(answer: PlannedMix) -> None:
    """The replicas first, then the buckets, then what a simulation saw, then the best single kind."""
    problem, plan = answer.problem, answer.plan
    kinds = {kind.name: kind for kind in problem.kinds}
    is_modelled = any(kind.rests_on for kind in problem.kinds)
    rows = [
        [
            name,
            in_numbers(kinds[name], count),
            f"{plan.utilisation[name]:.0%}",
            f"{hourly_usd(kinds, {name: count}):,.2f}",
            kinds[name].rests_on or "-",
        ]
        for name, count in plan.replicas.items()
    ]
    header = ("KIND", "REPLICAS", "BUSY", "USD/HOUR", "RESTS ON")
    columns = len(header) if is_modelled else len(header) - 1
    all_rented = sum(rented(kinds[name], count) for name, count in plan.replicas.items())
    together = ["together", str(all_rented), "", f"{plan.usd_per_hour:,.2f}", ""]
    print_table(header[:columns], [row[:columns] for row in (*rows, together)])
    for line in prices_of(kinds[name] for name in plan.replicas):
        click.echo(line)
    click.echo()
    print_table(
        ("BUCKET", "REQUESTS/S", "SERVED BY"),
        [
            [bucket.name, f"{bucket.requests_per_s:.3g}", served_by(plan.shares[bucket.name], share_min=SHOWN_MIN)]
            for bucket in problem.buckets
        ],
    )
    click.echo()
    _print_steps(answer)
    if answer.seen is not None and answer.share is not None:
        click.echo(simulated(answer.seen, answer.share, is_kept=answer.is_kept))
        if answer.beyond is not None and problem.headroom > 0:
            click.echo(beyond(answer.beyond, problem.headroom))
    if answer.beside is not None:
        click.echo(_beside(answer.beside))
    click.echo(comparison(plan))
    if plan.gap > 0:
        click.echo(f"time ran out: a mix up to {plan.gap:.1%} cheaper was not ruled out; fewer buckets or kinds help")


def _beside(other: RehearsedMix) -> str:
    """The best of the fleets with prompts and answers apart, or of those without."""
    is_apart = any(pool.role is not ReplicaRole.BOTH for pool in other.fleet.pools.values())
    how = "with prompts and answers apart" if is_apart else "with prompts and answers together"
    kept = "" if other.is_kept else ", and keeps the promise with nothing that was tried"
    return f"{how} it is {other.plan.usd_per_hour:,.2f} USD/hour{kept}"


def in_numbers(kind: ReplicaKind, count: int) -> str:
    """Those that serve, and the spares beside them."""
    more = rented(kind, count) - count
    return f"{count} + {more}" if more else str(count)


def prices_of(kinds: Iterable[ReplicaKind]) -> Iterator[str]:
    """Whose prices these are, and what is taken back."""
    used = list(kinds)
    sold = {f"{kind.hardware}{' spot' if kind.is_spot else ''}": kind for kind in used if kind.seller}
    if sold:
        each = (f"{name} {kind.usd_per_hour / kind.chips:.2f} ({kind.seller})" for name, kind in sold.items())
        yield f"a chip for an hour: {', '.join(each)}"
    for kind in used:
        if kind.is_spot and not kind.missing_share:
            yield f"{kind.name}: as if it were never taken back; --spot-interruptions says how often it is"
        elif kind.is_spot:
            yield (
                f"{kind.name}: missing {kind.missing_share:.1%} of the time, so an hour of one that serves costs "
                f"{serving_usd(kind):.2f}; with the spares, enough are there {SURE:.0%} of the time"
            )


def _print_steps(answer: PlannedMix) -> None:
    """How slow the plan takes steps to be, and how slow they may be."""
    rows = [
        [
            name,
            f"{steps.taken:.2f}",
            f"{steps.range.low:.2f}-{steps.range.high:.2f}",
            f"{steps.calibrated.low:.2f}-{steps.calibrated.high:.2f}",
        ]
        for name, steps in answer.steps.items()
    ]
    if rows:
        print_table(("STEPS TAKE, OF PREDICTED", "PLANNED", "80% ARE", "CALIBRATED"), rows)
        click.echo()


def simulated(seen: SimulationReport, share: float, *, is_kept: bool) -> str:
    """What the fleet did under the log at the rate that was asked for."""
    ttft, itl = seen.ttft, seen.itl
    busy = max(pool.busy_share for pool in seen.pools)
    kept = (
        f"simulated with {seen.requests:,} requests of the log: {seen.attainment:.1%} within both times ({share:.4g} "
        f"promised); first token p50 {ttft.p50_s * 1000:.0f}, p90 {ttft.p90_s * 1000:.0f}, p99 {ttft.p99_s * 1000:.0f} "
        f"ms, token p50 {itl.p50_s * 1000:.1f}, p90 {itl.p90_s * 1000:.1f}, p99 {itl.p99_s * 1000:.1f} ms; computing "
        f"up to {busy:.0%} of the time"
    )
    if is_kept:
        return kept
    if seen.attainment >= share:
        return f"{kept}\nno more than just: on another day it may be less"
    return f"{kept}\nthis is the best that was found: nothing that was tried keeps the promise"


def beyond(seen: SimulationReport, headroom: float) -> str:
    """The same with the headroom used up."""
    return f"with {1 / (1 - headroom) - 1:.1%} more requests, which use the headroom up: {seen.attainment:.1%}"


def served_by(shares: Mapping[str, float], *, share_min: float = 0.0) -> str:
    """Who serves a bucket, in words."""
    return ", ".join(f"{name} {share:.0%}" for name, share in shares.items() if share >= share_min)


def comparison(plan: MixPlan) -> str:
    """Beside the best that one kind alone could do."""
    alone = plan.single_kind_usd_per_hour
    if not alone:
        return "no single kind could do it alone"
    best = min(alone, key=alone.__getitem__)
    saved = 1 - plan.usd_per_hour / alone[best] if alone[best] else 0.0
    how = "no cheaper" if saved < 0.005 else f"{saved:.0%} cheaper"
    return f"{how} than the best single kind by the planner's rates, {best} at {alone[best]:,.2f} USD/hour"
