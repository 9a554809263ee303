"""Ways in which a new replica cannot be given what it should hold, and what users see of each: nothing.

The rows are run as tests and, by `make faults`, into docs/fault-matrix.md.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable

from msgspec import Struct

from heterodyne.domain.fleet import Health
from heterodyne.emulator.faults import Faults
from heterodyne.gateway.kv.warm_up import WarmUpOutcome
from tests.support.growing_fleets import NEW, SEA, GrowingFleet, growing_fleet, warmed

WARM_UP_BOUND_S = 1.0
SYSTEMS = tuple(f"{number}: {SEA}" for number in range(8))
SLOW = Faults(slowdown=1000)  # a prompt takes about as long as the bound, and health says nothing of it


async def slow(fleet: GrowingFleet) -> None:
    fleet.engines[1].engine.set_faults(SLOW)
    fleet.apply(2)
    await fleet.rig.wait(lambda: bool(fleet.engines[1].engine.machine.running))


async def killed(fleet: GrowingFleet) -> None:
    await slow(fleet)
    await fleet.engines[1].close()


async def refusing(fleet: GrowingFleet) -> None:
    fleet.engines[1].engine.set_faults(Faults(refuse_status=503))
    fleet.apply(2)


async def removed(fleet: GrowingFleet) -> None:
    await slow(fleet)
    fleet.apply(1)


WARM_UP_FAULTS: dict[str, tuple[Callable[[GrowingFleet], Awaitable[None]], Health | None, WarmUpOutcome | None]] = {
    "it is a thousand times slower": (slow, Health.READY, WarmUpOutcome.LATE),
    "it refuses every prompt": (refusing, Health.READY, WarmUpOutcome.REFUSED),
    "it is killed meanwhile": (killed, Health.STARTING, WarmUpOutcome.UNREACHABLE),
    "it is removed meanwhile": (removed, None, None),
}


class WarmUpSeen(Struct, frozen=True, kw_only=True):
    """What one run of one row showed."""

    row: str
    outcome: str  # of the last prompt that it was asked; empty: nobody asks any more
    health: str  # of the new replica afterwards; empty: it is not there
    after_s: float  # until that was so
    answered: int  # requests meanwhile, of five
    held: bool  # whether a task or a sequence was left of it


async def run_warm_up_row(row: str) -> WarmUpSeen:
    """On a fleet of one that gets a second."""
    fault, health, outcome = WARM_UP_FAULTS[row]
    async with growing_fleet(pool={"kv_warm_up_s": WARM_UP_BOUND_S}) as fleet:
        for system in SYSTEMS:
            await fleet.ask(system)
        new, before, began_s = fleet.engines[1], 0.0 if outcome is None else warmed(outcome), time.monotonic()
        await fault(fleet)
        answers = [await fleet.ask(SEA) for _ in range(5)]
        await fleet.rig.wait(lambda: fleet.health() is health and (outcome is None or warmed(outcome) > before))
        after_s = time.monotonic() - began_s
        if row != "it is killed meanwhile":
            await fleet.rig.wait(lambda: not new.engine.machine.running)
        fleet.apply(1)
        await fleet.rig.wait(lambda: not _is_watched())
        return WarmUpSeen(
            row=row,
            outcome="" if outcome is None else outcome.value,
            health="" if health is None else health.value,
            after_s=after_s,
            answered=sum(answer.status == 200 for answer in answers),
            held=_is_watched() or bool(fleet.upstream.limit.by_replica),
        )


def _is_watched() -> bool:
    return any(task.get_name() == f"watch {NEW}" for task in asyncio.all_tasks())
