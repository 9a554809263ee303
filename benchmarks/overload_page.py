"""docs/overload.md, from what `overload.py` measured."""

from msgspec import Struct


class TierFigures(Struct, frozen=True, kw_only=True):
    """What one tier saw at one load."""

    asked: int
    answered: int
    good: int  # within both promises
    ttft_p50_ms: float
    ttft_p99_ms: float
    itl_p99_ms: float
    refused: dict[str, int]  # by reason
    refused_p50_ms: float
    refused_p99_ms: float


class Load(Struct, frozen=True, kw_only=True):
    """One load, and whether the machine kept up."""

    load: float  # of the capacity
    asked_per_s: float
    goodput_per_s: float
    answered_per_s: float
    tiers: dict[str, TierFigures]
    depth_max: int
    late_p99_ms: float  # that requests left the client after they were meant to
    gateway_cores: float
    emulator_cores: float
    client_cores: float
    idle_cores: float | None  # of the machine meanwhile; None: it does not say


class Results(Struct, frozen=True, kw_only=True):
    """Everything the page is made from."""

    day: str
    machine: str
    slo_ttft_ms: float
    slo_itl_ms: float
    capacity_per_s: float
    knows_slots: bool
    seconds: float
    behind: list[str]  # emulators that the machine was too slow for
    loads: list[Load]


def page(results: Results) -> str:
    """All of it."""
    rows = []
    for one in results.loads:
        rows.append(f"{one.load} asked {one.asked_per_s:.1f} good {one.goodput_per_s:.1f} answered {one.answered_per_s:.1f} depth {one.depth_max} late99 {one.late_p99_ms:.1f}ms gw {one.gateway_cores:.2f} em {one.emulator_cores:.2f} cl {one.client_cores:.2f} idle {one.idle_cores}")
        for name, t in one.tiers.items():
            rows.append(f"   {name:7} asked {t.asked} good {t.good/max(1,t.asked):.1%} answered {t.answered} ttft {t.ttft_p50_ms:.0f}/{t.ttft_p99_ms:.0f} itl99 {t.itl_p99_ms:.0f} refused {t.refused} in {t.refused_p50_ms:.0f}/{t.refused_p99_ms:.0f}")
    return "\n".join(rows) + "\n"
