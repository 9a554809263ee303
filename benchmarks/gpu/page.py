"""docs/gpu.md, from what a run has kept."""

from collections.abc import Sequence

from benchmarks.gpu.results import Forecasts, LoadRun, MixedReplica, MixRun, PolicyRun, Results, Side

HEAD = """\
# On a GPU

Real engines with random weights on a real card: what the gateway adds to them, how far its forecasts
are off, and what a routing policy is worth between replicas of different speed. `make bench-gpu`
repeats it on any machine with an accelerator (`ARGS="--device cpu --shape tiny"` without one); engines
that are installed are found, weights are made where there are none, and this page is written anew. It
is no part of `make test`.
"""


def page(results: Results) -> str:
    """All of it."""
    return "\n".join(
        [
            HEAD,
            f"Run of {results.day} on {results.card or 'no card'} ({results.machine}), in {results.seconds:.0f} s: "
            f"`{results.command}`.",
            "",
            *(line for note in results.notes for line in (note, "")),
            *_replicas(results),
            *_added(results.loads),
            *_speeds(results.loads),
            *_forecasts(results),
            *_mixes(results),
            *_policies(results),
            *_seen(results.seen),
        ]
    )


def _replicas(results: Results) -> list[str]:
    rows = [
        f"| `{one.name}` | {one.engine} {one.version} | {one.shape} | {one.ready_s:.0f} s |" for one in results.replicas
    ]
    return ["| Replica | Engine | Shape | Ready after |", "|---|---|---|---:|", *rows, ""]


def _added(runs: Sequence[LoadRun]) -> list[str]:
    rows = [
        f"| {run.at_once} | {run.through.asked} | {run.added_p50_ms:.2f} ms | {run.added_p99_ms:.2f} ms |"
        for run in runs
    ]
    text = """\
## What the gateway adds

From the complete request to the moment the engine is sent it, as the gateway's records have it
(`overhead_ms` and `connect_ms`); one worker, every request streamed, opening of connections included.
"""
    return [text, "| At once | Requests | p50 | p99 |", "|---:|---:|---:|---:|", *rows, ""]


def _speeds(runs: Sequence[LoadRun]) -> list[str]:
    rows = [
        _speed(run.at_once, way, side)
        for run in runs
        for way, side in (("direct", run.direct), ("through", run.through))
    ]
    text = """\
## One replica, direct and through the gateway

The same requests (400 tokens in, 48 out in the median), so many at once; times as the client saw
them. The two runs follow each other, so that what an engine does differently from one minute to the
next is in their difference, too.
"""
    head = "| At once | | TTFT p50 | TTFT p99 | ITL p50 | ITL p99 | Tokens/s | Card busy | Joules a token | Failed |"
    return [text, head, "|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|", *rows, ""]


def _speed(at_once: int, way: str, side: Side) -> str:
    return (
        f"| {at_once} | {way} | {side.ttft_p50_ms:.1f} ms | {side.ttft_p99_ms:.0f} ms | {side.itl_p50_ms:.2f} ms "
        f"| {side.itl_p99_ms:.2f} ms | {side.tokens_per_s:,.0f} | {_share(side.busy_share)} "
        f"| {_joules(side.joules_per_token)} | {side.failed} |"
    )


def _forecasts(results: Results) -> list[str]:
    rows = []
    for run in results.loads:
        stages = (
            (f"first {run.first.requests}", run.first),
            (f"last {run.later.requests}", run.later),
            ("first, calibrated", run.calibrated),
        )
        rows += [_forecast(run.at_once, name, found) for name, found in stages if found is not None]
    text = """\
## Forecasts beside what came

A gateway that knows the card and the model's name and nothing of this engine, at each load anew:
the median of |forecast / measured - 1|, for its first requests and for those after it has learned
(behind the first hundred, or the last half where fewer were asked). "Calibrated" is a gateway that
begins with the profile of `heterodyne calibrate`.
"""
    said = ["Calibration said:", "", "```", *results.calibration, "```", ""] if results.calibration else []
    return [text, "| At once | Requests | TTFT off by | ITL off by |", "|---:|---|---:|---:|", *rows, "", *said]


def _forecast(at_once: int, name: str, found: Forecasts) -> str:
    return f"| {at_once} | {name} | {found.ttft_error:.0%} | {found.itl_error:.0%} |"


def _mixes(results: Results) -> list[str]:
    if not results.mixes:
        return []
    sides = zip(results.replicas, results.alone, strict=True)
    alone = ", ".join(f"`{one.name}` {side.tokens_per_s:,.0f}" for one, side in sides)
    text = f"""\
## Both behind one name

Requests arrive at random, at a share of what the replicas write together when each is asked alone with
the most at once that was measured ({alone} tokens a second). A gateway that has seen nothing learns from
a hundred requests of both; what is counted comes after them. Covered is the share of answers within the
span that was told, which is to hold eight of ten.
"""
    head = "| Load | Requests/s | Replica | Answers | TTFT off by | ITL off by | TTFT covered | ITL covered |"
    rows = [row for run in results.mixes for row in _mix(run)]
    overhead = [
        f"| {run.share:.0%} | {run.side.asked} | {run.side.failed} | {run.side.tokens_per_s:,.0f} "
        f"| {run.side.ttft_p50_ms:.0f} ms | {run.side.itl_p50_ms:.1f} ms "
        f"| {run.added_p50_ms:.2f} ms | {run.added_p99_ms:.2f} ms |"
        for run in results.mixes
    ]
    overhead_head = "| Load | Requests | Failed | Tokens/s | TTFT p50 | ITL p50 | Added, p50 | Added, p99 |"
    return [
        *(text, head, "|---:|---:|---|---:|---:|---:|---:|---:|", *rows, ""),
        *(overhead_head, "|---:|---:|---:|---:|---:|---:|---:|---:|", *overhead, ""),
    ]


def _mix(run: MixRun) -> list[str]:
    return [f"| {run.share:.0%} | {run.per_s:.1f} | `{one.replica}` {_mixed(one)}" for one in run.replicas]


def _mixed(one: MixedReplica) -> str:
    found = one.forecasts
    if not found.requests:
        return "| 0 | | | | |"
    return (
        f"| {found.requests} | {found.ttft_error:.0%} | {found.itl_error:.0%} "
        f"| {_share(one.ttft_covered)} | {_share(one.itl_covered)} |"
    )


def _policies(results: Results) -> list[str]:
    if not results.policies:
        return ["## Policies over replicas of different speed", "", "Not measured in this run.", ""]
    rows = [_policy(one) for one in results.policies]
    text = f"""\
## Policies over replicas of different speed

All replicas behind one name, {results.policies[0].side.asked} requests that arrive at random,
{results.policies_per_s:.1f} a second, the same for every policy; a gateway that has seen nothing yet.
Kept is who got the first token within {results.slo_ttft_ms:.0f} ms and the others within
{results.slo_itl_ms:.1f} ms each, as the client saw it, of all that were asked: what even the slowest
replica keeps while it has little to do (three times its TTFT and 1.25 times its ITL, in the median with
four at once).
"""
    head = "| Policy | Kept | TTFT p50 | TTFT p99 | ITL p50 | ITL p99 | Requests by replica | Failed |"
    return [text, head, "|---|---:|---:|---:|---:|---:|---|---:|", *rows, ""]


def _policy(one: PolicyRun) -> str:
    side = one.side
    given = ", ".join(f"{name} {count}" for name, count in sorted(one.by_replica.items()))
    return (
        f"| `{one.policy}` | {one.kept:.1%} | {side.ttft_p50_ms:.0f} ms | {side.ttft_p99_ms:.0f} ms "
        f"| {side.itl_p50_ms:.1f} ms | {side.itl_p99_ms:.1f} ms | {given} | {side.failed} |"
    )


def _seen(seen: Sequence[str]) -> list[str]:
    return ["What did not go as it should:", "", *(f"- {one[:160]}" for one in seen[:6]), ""] if seen else []


def _share(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.0%}"


def _joules(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.2f}"
