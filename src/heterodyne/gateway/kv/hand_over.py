"""KV that engines fetch from each other: a prefill replica is asked, and the decode replica is told where to look."""

import asyncio
from collections.abc import Callable
from math import inf

from heterodyne.domain.errors import EngineError
from heterodyne.gateway.fleet_view import ReplicaWire
from heterodyne.gateway.kv.brought import Brought
from heterodyne.gateway.kv.engine_asker import EngineAsker
from heterodyne.gateway.kv.kv_failure import KvFailure, KvOutcome
from heterodyne.gateway.kv.kv_use import KvUse
from heterodyne.gateway.kv.moved_call import moved_call
from heterodyne.ports.kv_transfer import PairedTransfer, SequentialTransfer


async def hand_over(
    asker: EngineAsker,
    transfer: SequentialTransfer,
    source: ReplicaWire,
    use: KvUse,
    clock: Callable[[], float],
) -> Brought:
    """Have the prompt computed there; the call for the target then says where it lies."""
    asked_at_s = clock()
    prefill = transfer.prefill(moved_call(use.call, use.wire.replica, source.replica))
    answer = await asker.ask(source, prefill, use.request_id, timeout_s=use.bound_s)
    if answer.status != 200:
        raise KvFailure(KvOutcome.REFUSED, f"The prefill replica answered with status {answer.status}.")
    handed_over = transfer.read(answer.body)
    lease_s = handed_over.lease_s
    return Brought(
        transfer.decode(use.call, handed_over),
        tokens=handed_over.tokens,
        byte_count=handed_over.byte_count,
        lease_until_s=inf if lease_s is None else asked_at_s + lease_s,
        is_fetched_later=True,
    )


def meet(
    asker: EngineAsker,
    transfer: PairedTransfer,
    source: ReplicaWire,
    use: KvUse,
    *,
    place: tuple[int, int],
    group: asyncio.TaskGroup,
    on_lost: Callable[[KvFailure], None],
) -> Brought:
    """Ask the prefill replica and leave it to that; `place` is its port and the room where the two meet."""
    host, (port, room) = source.replica.host, place
    prefill = transfer.pair(moved_call(use.call, use.wire.replica, source.replica), host, port, room)

    async def compute() -> None:
        try:
            answer = await asker.ask(source, prefill, use.request_id, timeout_s=use.bound_s)
        except EngineError as error:
            on_lost(KvFailure(KvOutcome.UNREACHABLE, error.message))
            return
        if answer.status != 200:
            on_lost(KvFailure(KvOutcome.REFUSED, f"The prefill replica answered with status {answer.status}."))

    other_side = group.create_task(compute(), name=f"prefill of {use.request_id}")
    return Brought(transfer.pair(use.call, host, port, room), is_fetched_later=True, other_side=other_side)
