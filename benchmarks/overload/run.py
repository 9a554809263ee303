"""`make bench-overload`: a gateway before emulated engines at up to three times what they can do, by tier."""

import argparse
import asyncio
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import uvloop

from benchmarks.emulated_fleet import GATEWAY, EmulatedFleet
from benchmarks.machine import FORMS, describe, idle_cores_s
from benchmarks.overload.client import ReplayedRequest, arrivals, flood, replay
from benchmarks.overload.fleet import POOLS, Keys, overload_fleet
from benchmarks.overload.page import Load, Results, Sweep, TierFigures, page
from heterodyne.domain.urgency import Tier
from heterodyne.physics.serving import Slo
from heterodyne.telemetry.build_form import build_form

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "overload.md"
RESULTS = Path(__file__).with_name("overload.json")
LOADS = (0.5, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0)
UNTOLD_LOADS = (1.0, 1.5, 3.0)
# At three times the capacity gold alone asks for 60 % of it.
SHARES = {Tier.GOLD: 0.2, Tier.SILVER: 0.3, Tier.BRONZE: 0.5}
SETTLING_S = 3.0  # of each load that is not counted: the queue has to fill first
WARM_UP_S, FLOOD_S = 10.0, 8.0


def main() -> int:
    """Print the page, and write it where it is kept."""
    options = _options()
    slo = Slo(ttft_s=options.slo_ttft_ms / 1000, itl_s=options.slo_itl_ms / 1000)
    results = Results(
        day=datetime.now(UTC).date().isoformat(),
        machine=f"{describe()}, Heterodyne {FORMS[build_form()]}",
        slo_ttft_ms=options.slo_ttft_ms,
        slo_itl_ms=options.slo_itl_ms,
        seconds=options.seconds - SETTLING_S,
        told=_sweep(options.load or LOADS, slo, options, tells_slots=True),
        untold=_sweep(options.untold_load or UNTOLD_LOADS, slo, options, tells_slots=False),
    )
    text = page(results)
    if not options.no_page:
        RESULTS.write_bytes(msgspec.json.format(msgspec.json.encode(results), indent=1) + b"\n")
        PAGE.write_text(text, encoding="utf-8")
    print(text)
    return 0


def _sweep(loads: Sequence[float], slo: Slo, options: argparse.Namespace, *, tells_slots: bool) -> Sweep:
    """One fleet through all loads, the lowest first."""
    with (
        tempfile.TemporaryDirectory() as name,
        overload_fleet(Path(name), slo, tells_slots=tells_slots) as (fleet, keys),
    ):
        capacity = uvloop.run(_capacity(fleet))
        print(f"capacity {capacity:.1f} requests/s", file=sys.stderr)
        sweep = Experiment(fleet, keys, capacity, slo)
        sweep.run(0.5, WARM_UP_S, "warm-up")
        found = [sweep.run(load, options.seconds, f"{options.seed} {load}") for load in loads]
        records = fleet.end()
        behind = fleet.behind()
    if options.records is not None and tells_slots:
        options.records.write_bytes(b"\n".join(map(msgspec.json.encode, records)) + b"\n")
    return Sweep(capacity_per_s=capacity, behind=behind, loads=found)


async def _capacity(fleet: EmulatedFleet) -> float:
    """What the engines answer in a second with every slot taken, asked directly."""
    rates = await asyncio.gather(
        *(flood(url, POOLS[name].slots, FLOOD_S, name) for name, url in fleet.engine_urls.items())
    )
    return sum(rates)


class Experiment:
    """A running fleet, and what it is held against."""

    def __init__(self, fleet: EmulatedFleet, keys: Keys, capacity: float, slo: Slo) -> None:
        self._fleet = fleet
        self._keys = dict(keys)
        self._capacity = capacity
        self._slo = slo

    def run(self, load: float, seconds: float, seed: str) -> Load:
        """So many seconds of arrivals at this share of the capacity."""
        fleet, slo = self._fleet, self._slo
        timed_requests = arrivals(load * self._capacity, seconds, SHARES, seed)
        before, own_before_s, idle_before_s, began_s = (
            fleet.cpu_s(), time.process_time(), idle_cores_s(), time.monotonic(),
        )  # fmt: skip
        replayed = uvloop.run(replay(fleet.url, self._keys, timed_requests))
        took_s, own_s, idle_s, after = (
            time.monotonic() - began_s, time.process_time() - own_before_s, idle_cores_s(), fleet.cpu_s(),
        )  # fmt: skip
        counted_s = seconds - SETTLING_S
        counted = [one for one in replayed.told if one.at_s >= SETTLING_S]
        found = Load(
            load=load,
            asked_per_s=len(counted) / counted_s,
            goodput_per_s=sum(_is_good(one, slo) for one in counted) / counted_s,
            answered_per_s=sum(not one.refused for one in counted) / counted_s,
            tiers={tier.value: _tier([one for one in counted if one.tier is tier], slo) for tier in Tier},
            depth_max=replayed.depth_max,
            late_p99_ms=1000 * _quantile([one.late_s for one in replayed.told], 0.99),
            gateway_cores=(after[GATEWAY] - before[GATEWAY]) / took_s,
            emulator_cores=sum(after[name] - before[name] for name in POOLS) / took_s,
            client_cores=own_s / took_s,
            idle_cores=None if idle_s is None or idle_before_s is None else (idle_s - idle_before_s) / took_s,
        )
        print(f"{seed}: goodput {found.goodput_per_s:.1f}/s of {found.asked_per_s:.1f}/s", file=sys.stderr)
        return found


def _tier(told: Sequence[ReplayedRequest], slo: Slo) -> TierFigures:
    answered = [one for one in told if not one.refused]
    refused = [one for one in told if one.refused]
    good = sum(_is_good(one, slo) for one in told)
    return TierFigures(
        asked=len(told),
        answered=len(answered),
        good=good,
        ttft_p50_ms=1000 * _quantile([one.told_s for one in answered], 0.5),
        ttft_p99_ms=1000 * _quantile([one.told_s for one in answered], 0.99),
        itl_p99_ms=1000 * _quantile([one.itl_s for one in answered], 0.99),
        refused=dict(Counter(one.refused for one in refused)),
        refused_p50_ms=1000 * _quantile([one.told_s for one in refused], 0.5),
        refused_p99_ms=1000 * _quantile([one.told_s for one in refused], 0.99),
    )


def _is_good(one: ReplayedRequest, slo: Slo) -> bool:
    return not one.refused and one.told_s <= slo.ttft_s and one.itl_s <= slo.itl_s


def _quantile(values: Sequence[float], share: float) -> float:
    if not values:
        return 0.0
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--load", type=float, action="append", help="of the capacity; again for more, lowest first")
    parser.add_argument("--seconds", type=float, default=33.0, help="of arrivals, at each load")
    parser.add_argument("--slo-ttft-ms", type=float, default=500.0)
    parser.add_argument("--slo-itl-ms", type=float, default=80.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--untold-load", type=float, action="append", help="where the gateway is not told of slots")
    parser.add_argument("--records", type=Path, help="keep what the gateway wrote down of each request")
    parser.add_argument("--no-page", action="store_true", help="write nothing")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
