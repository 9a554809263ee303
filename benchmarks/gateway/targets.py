"""The numbers Heterodyne has set itself, and whether this run reached them."""

from collections.abc import Iterable, Mapping
from statistics import median

from msgspec import Struct

from benchmarks.gateway.cells import BARE
from benchmarks.gateway.failover import Failover
from benchmarks.gateway.failover_page import WORDS
from benchmarks.gateway.peers import HETERODYNE, LITELLM, TENANTS, VLLM_ROUTER
from benchmarks.gateway.results import Row, cpu_ratios
from benchmarks.gateway.scenarios import PROMPT, REQUEST, STREAM


class Verdict(Struct, frozen=True, kw_only=True):
    """One target beside what was measured."""

    what: str
    measured: float | None  # None: something it needs was not measured
    limit: float
    unit: str
    spread: tuple[float, float] | None = None  # the least and the most of a start

    @property
    def word(self) -> str:
        if self.measured is None:
            return "not measured"
        return "pass" if self.measured <= self.limit else "miss"


def verdicts(rows: Mapping[str, Row], failovers: Iterable[Failover]) -> tuple[Verdict, ...]:
    """Every target, measured or not."""
    ours, vllm, litellm = rows.get(HETERODYNE), rows.get(VLLM_ROUTER), rows.get(LITELLM)
    with_tenants, bare = rows.get(TENANTS), rows.get(BARE)
    return (
        _ratio("request, against vllm-router", cpu_ratios(ours, vllm, REQUEST), 0.65),
        _ratio("request with all on, against vllm-router", cpu_ratios(with_tenants, vllm, REQUEST), 0.85),
        _ratio("stream, against vllm-router", cpu_ratios(ours, vllm, STREAM), 0.75),
        _ratio("stream with all on, against vllm-router", cpu_ratios(with_tenants, vllm, STREAM), 0.8),
        _ratio("400 KB prompt, against vllm-router", cpu_ratios(ours, vllm, PROMPT), 0.6),
        _ratio("request, against LiteLLM", cpu_ratios(ours, litellm, REQUEST), 1 / 150),
        _added("p50 of one at a time", ours and ours.alone_p50_ms, bare and bare.alone_p50_ms, 0.15),
        _added("p99 of one at a time", ours and ours.alone_p99_ms, bare and bare.alone_p99_ms, 0.4),
        _added("p99 at half load", ours and ours.half_p99_ms, bare and bare.half_p99_ms, 2.0),
        *map(_failover, failovers),
    )


def _ratio(what: str, by_start: tuple[float, ...], limit: float) -> Verdict:
    measured = median(by_start) if by_start else None
    spread = (min(by_start), max(by_start)) if by_start else None
    return Verdict(what=f"CPU per {what}", measured=measured, spread=spread, limit=limit, unit="×")


def _added(what: str, ours: float | None, bare: float | None, limit_ms: float) -> Verdict:
    measured = ours - bare if ours is not None and bare is not None else None
    return Verdict(what=f"latency added, {what}", measured=measured, limit=limit_ms, unit="ms")


def _failover(one: Failover) -> Verdict:
    what = f"failover, the first replica {WORDS[one.failure]}: added"
    return Verdict(what=what, measured=one.added_ms, limit=one.engine_ms, unit="ms")
