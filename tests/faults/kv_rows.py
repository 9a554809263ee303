"""Ways in which KV that is to come from elsewhere does not, and what a client sees of each.

The rows are run as tests and, by `make faults`, into docs/fault-matrix.md.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable

from msgspec import Struct

from heterodyne.emulator.faults import Faults, PoorHandOver
from heterodyne.gateway.kv.transfers import BOUND_FACTOR, BOUND_SLACK_S
from tests.support.kv_plans import MODEL, PREFILL, TAKES_S, KvRig, kv_gateway
from tests.support.raw_client import Answer, connected
from tests.support.requests import chat

SEA = "the sea is wide and deep and blue and cold, " * 40
BOUND_S = BOUND_FACTOR * TAKES_S + BOUND_SLACK_S
MORE = 5  # failures in a row eject a replica
SLACK_S = 2.0  # the tick of the clock, computing it after all, and a slow machine


async def ask(rig: KvRig, *, stream: bool, content: str = SEA) -> tuple[Answer, float]:
    began_s = time.monotonic()
    async with connected(rig.rig.port) as client:
        messages = [{"role": "user", "content": content}]
        answer = await client.ask(chat(model=MODEL, messages=messages, stream=stream, max_tokens=20))
    return answer, time.monotonic() - began_s


def words(answer: Answer, *, stream: bool) -> str:
    assert answer.status == 200, answer.body
    if stream:
        assert answer.events[-1] == b"[DONE]"
        return answer.text
    return str(answer.json["choices"][0]["message"]["content"])


async def expected(rig: KvRig, *, stream: bool) -> str:
    """What is said without any of it, by an engine that remembers nothing then."""
    origin, rig.planner.origin = rig.planner.origin, None
    answer, _ = await ask(rig, stream=stream)
    rig.planner.origin = origin
    await rig.rig.wait(rig.decode.engine.reset_cache)
    return words(answer, stream=stream)


async def silent(rig: KvRig) -> None:
    rig.prefill.engine.set_faults(Faults(hand_over=PoorHandOver.SILENT))


async def expired(rig: KvRig) -> None:
    rig.prefill.engine.set_faults(Faults(hand_over=PoorHandOver.EXPIRED))


async def short(rig: KvRig) -> None:
    rig.prefill.engine.set_faults(Faults(hand_over=PoorHandOver.SHORT))


async def stalled(rig: KvRig) -> None:
    rig.prefill.engine.set_faults(Faults(stall=True))


async def refusing(rig: KvRig) -> None:
    rig.prefill.engine.set_faults(Faults(refuse_status=503))


async def slow_link(rig: KvRig) -> None:
    rig.decode.engine.set_faults(Faults(kv_slowdown=10_000))


async def killed_before(rig: KvRig) -> None:
    await rig.kill_prefill()


async def killed_during(rig: KvRig) -> None:
    """While it computes."""
    rig.prefill.engine.set_faults(Faults(slowdown=1000))

    async def kill() -> None:
        await rig.rig.wait(lambda: bool(rig.prefill.engine.machine.running))
        await rig.kill_prefill()

    rig.tasks.append(asyncio.create_task(kill()))


async def killed_after(rig: KvRig) -> None:
    """When it has handed over, and nothing was read yet."""
    rig.decode.engine.set_faults(Faults(kv_slowdown=100))

    async def kill() -> None:
        await rig.rig.wait(lambda: bool(rig.prefill.engine.kv.pinned))
        await rig.kill_prefill()

    rig.tasks.append(asyncio.create_task(kill()))


FAULTS: dict[str, Callable[[KvRig], Awaitable[None]]] = {
    "prefill answers and hands nothing over": silent,
    "its lease ends at once": expired,
    "half of it is handed over": short,
    "prefill never answers": stalled,
    "prefill refuses": refusing,
    "the link is ten thousand times slower": slow_link,
    "prefill is killed before": killed_before,
    "prefill is killed while it computes": killed_during,
    "prefill is killed after it handed over": killed_after,
}


class KvSeen(Struct, frozen=True, kw_only=True):
    """What one run of one row showed."""

    row: str
    is_stream: bool
    replica: str
    is_whole: bool  # every word that is said without any of it
    took_s: float
    known_as: str  # what keeps prompts from the prefill replica after five more at once; empty: nothing
    held: bool  # whether anything was still held anywhere, leases that nobody wants apart


async def run_kv_row(row: str, *, is_stream: bool) -> KvSeen:
    """On two fresh replicas."""
    async with kv_gateway() as rig:
        plain = await expected(rig, stream=is_stream)
        await FAULTS[row](rig)
        answer, took_s = await ask(rig, stream=is_stream)
        await asyncio.gather(*(ask(rig, stream=is_stream) for _ in range(MORE)))
        await rig.rig.wait_empty()
        known = next(one for one in rig.rig.server.fleet_health().replicas if one.replica == PREFILL)
        rig.decode.engine.set_faults(Faults())
        rig.prefill.engine.kv.end_leases()
        await rig.wait_idle()
        return KvSeen(
            row=row,
            is_stream=is_stream,
            replica=answer.headers["x-heterodyne-replica"],
            is_whole=words(answer, stream=is_stream) == plain,
            took_s=took_s,
            known_as="" if known.obstacle is None else known.obstacle.value,
            held=not rig.is_idle,
        )
