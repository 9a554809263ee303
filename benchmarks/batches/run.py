"""`make bench-batches`: a batch beside interactive traffic and each of the two alone, live and in virtual time."""

import argparse
import asyncio
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import uvloop
from msgspec import structs

from benchmarks.batches.beside import FEW_RPS, measure
from benchmarks.batches.gateway_batch import WorkedOff, work_off
from benchmarks.batches.lines import BatchShape
from benchmarks.batches.live import RESULTS, LiveBeside, LiveRun
from benchmarks.batches.traffic import IN_FLIGHT_MAX, WARM_S, interactive, options_parser, slo_of
from benchmarks.emulated_fleet import EmulatedFleet
from benchmarks.machine import describe
from benchmarks.routing_live.client import Reply, replay
from benchmarks.routing_live.fleet import MODEL, Rules, live_fleet
from heterodyne.domain.record import RequestRecord
from heterodyne.domain.urgency import Urgency
from heterodyne.physics.serving import Slo
from heterodyne.simulator.workload import SimulatedRequest, workload

ALONE_S = 25.0  # of the batch alone: its pace is steady


def main() -> int:
    """Print what was found, and keep it."""
    options = _options()
    slo = slo_of(options)
    usual, few = _arrivals(slo, options)
    alone = _run("interactive alone", usual, None, slo, options)
    lines = _run("batch alone", few, _shape(options, times=2), slo, _shorter(options))
    both = _run("both", usual, _shape(options), slo, options)
    found = LiveBeside(
        day=datetime.now(UTC).date().isoformat(),
        machine=describe(),
        speed=options.speed,
        asked_lines=options.lines,
        load=options.load,
        trace=options.trace,
        part=options.seed,
        alone=alone,
        lines_alone=lines,
        both=both,
    )
    _keep(found)  # it has taken minutes
    found = structs.replace(found, simulated=measure(options))
    _keep(found)
    print(found)
    return 0


def _keep(found: LiveBeside) -> None:
    RESULTS.write_bytes(msgspec.json.format(msgspec.json.encode(found), indent=1) + b"\n")


def _options() -> argparse.Namespace:
    parser = options_parser(__doc__, seconds=110.0)
    parser.add_argument("--speed", type=float, default=1.0, help="of the emulated clocks: below 1 all times are longer")
    return parser.parse_args()


def _shape(options: argparse.Namespace, times: int = 1) -> BatchShape:
    return BatchShape(
        lines=times * options.lines,
        groups=times * options.groups,
        shared_tokens=options.shared_tokens,
        own_tokens=options.own_tokens,
        output_tokens=options.output_tokens,
    )


def _shorter(options: argparse.Namespace) -> argparse.Namespace:
    return argparse.Namespace(**{**vars(options), "warm_s": 0.0, "seconds": min(options.seconds, ALONE_S)})


def _arrivals(slo: Slo, options: argparse.Namespace) -> tuple[Sequence[SimulatedRequest], Sequence[SimulatedRequest]]:
    """The traffic, and as good as none."""
    traffic, end_s = interactive(options, slo), options.warm_s + options.seconds
    log = traffic.log[: int(traffic.rate * end_s)]
    print(f"{len(log)} interactive requests, {traffic.rate:.1f}/s", file=sys.stderr)
    few = workload(log[: max(1, int(FEW_RPS * ALONE_S))], rate=FEW_RPS)
    return workload(log, rate=traffic.rate).arrivals, few.arrivals


def _run(
    name: str, arrivals: Sequence[SimulatedRequest], shape: BatchShape | None, slo: Slo, options: argparse.Namespace
) -> LiveRun:
    slower = Slo(ttft_s=slo.ttft_s / options.speed, itl_s=slo.itl_s / options.speed)
    late = [structs.replace(one, at_s=one.at_s / options.speed) for one in arrivals]
    more = f"[admission]\nin_flight_max = {IN_FLIGHT_MAX}\n"
    rules = Rules(policy=options.policy, slo=slower, has_queue=True, more=more, speed=options.speed)
    with tempfile.TemporaryDirectory() as folder, live_fleet(Path(folder), rules) as fleet:
        worked_off, replies, failures = uvloop.run(_drive(fleet, late, shape, options))
        records = fleet.end()
        behind = fleet.behind()
    lines = [one for one in records if _is_paid(one) and one.urgency == Urgency.BATCH]
    others = [one for one in records if _is_paid(one) and one.urgency != Urgency.BATCH]
    late, slow = ([one.ttft_s > slower.ttft_s for one in replies], [one.itl_s > slower.itl_s for one in replies])
    found = LiveRun(
        came=sum(one.at_s >= options.warm_s for one in arrivals),
        late=sum(late),
        slow=sum(slow),
        failed=len(failures),
        missed=sum(map(max, late, slow)) + len(failures),
        sent_late_p99_ms=1000 * sorted(one.late_s for one in replies)[int(0.99 * len(replies))],
        behind=behind,
        worked_off=worked_off,
        lines_per_s=0.0 if worked_off is None else worked_off.lines_per_s / options.speed,
        cached_share=None if shape is None else _cached_share(lines, shape),
        usd_per_million_lines=_usd_per_million(lines),
        usd_per_million_others=_usd_per_million(others),
        pools=dict(Counter(one.pool for one in lines)),
    )
    print(name, found, file=sys.stderr)
    return found


async def _drive(
    fleet: EmulatedFleet, arrivals: Sequence[SimulatedRequest], shape: BatchShape | None, options: argparse.Namespace
) -> tuple[WorkedOff | None, list[Reply], list[str]]:
    """Beside traffic the batch comes to a gateway that has seen some, as those at night have."""
    watching = None
    if shape is not None:
        watching = asyncio.create_task(
            work_off(
                fleet.url,
                MODEL,
                shape,
                seed=options.seed,
                begin_s=options.warm_s / options.speed,
                warm_s=WARM_S / options.speed,
                seconds=options.seconds / options.speed,
            )
        )
    replies, failures = await replay(fleet.url, MODEL, arrivals)
    return None if watching is None else await watching, replies, failures


def _is_paid(record: RequestRecord) -> bool:
    return record.status == 200 and record.usd is not None


def _cached_share(lines: Sequence[RequestRecord], shape: BatchShape) -> float:
    """Of the prompt tokens that lines could share, were the first of each group the only one to compute them."""
    return sum(one.cached_tokens for one in lines) / max(1, shape.shared_tokens * (len(lines) - shape.groups))


def _usd_per_million(records: Sequence[RequestRecord]) -> float | None:
    tokens = sum(one.prompt_tokens + one.completion_tokens for one in records)
    return sum(one.usd or 0.0 for one in records) / tokens * 1e6 if tokens else None


if __name__ == "__main__":
    raise SystemExit(main())
