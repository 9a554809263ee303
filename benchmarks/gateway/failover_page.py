"""The section of docs/benchmarks.md on what a failed first attempt adds."""

from benchmarks.gateway.failing_upstream import PREFILL_S, Failure
from benchmarks.gateway.failover import Failover

WORDS = {
    Failure.REFUSED: "refuses the connection",
    Failure.RESET: "resets it at the request",
    Failure.DIES: "resets it after its prefill",
}


def failover_section(failovers: tuple[Failover, ...]) -> str:
    """Empty when it was not measured."""
    if not failovers:
        return ""
    lines = [
        "## Failover",
        "",
        "What a failed first attempt adds to a request that Heterodyne then sends to another replica: the median",
        "latency of such requests less that of the same request where all is well, one at a time, in turn. The mock",
        f"takes {1000 * PREFILL_S:g} ms for a prefill. *Engine* is its answer on a new connection without a gateway:",
        "one connect and one prefill, the most a failover should add. Where no prefill is lost, what is added is",
        "Heterodyne's own work on a second attempt; where one is, that work comes on top. Ejection and breakers are",
        "off: with them a replica that goes on failing fails a few requests, not every one.",
        "",
        "| the first replica | failovers | all well ms | failed over ms | added ms | connect ms | engine ms | lost |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for one in failovers:
        times = (one.well_ms, one.failed_ms, one.added_ms, one.connect_ms, one.engine_ms)
        cells = (WORDS[one.failure], f"{one.failovers:,}", *(f"{time:.2f}" for time in times), f"{one.lost:,}")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])
