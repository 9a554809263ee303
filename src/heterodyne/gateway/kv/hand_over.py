"""KV that engines fetch from each other: a prefill replica is asked, and the decode replica is told where to look."""

import asyncio
from collections.abc import Callable
from math import inf

from heterodyne.domain.errors import EngineError, EngineStalled
from heterodyne.gateway.fleet_view import ReplicaWire
from heterodyne.gateway.kv.brought import Brought
from heterodyne.gateway.kv.engine_asker import EngineAsker
from heterodyne.gateway.kv.kv_failure import KvFailure, KvOutcome, failure_of, not_computed, refused_prefill
from heterodyne.gateway.kv.kv_use import KvUse
from heterodyne.gateway.kv.moved_call import moved_call
from heterodyne.gateway.kv.prefill_work import PrefillWork, computed
from heterodyne.ports.engine_request import EngineRequest
from heterodyne.ports.kv_transfer import HandedOver, PairedTransfer, SequentialTransfer


async def hand_over(
    asker: EngineAsker,
    transfer: SequentialTransfer,
    source: ReplicaWire,
    use: KvUse,
    *,
    work: PrefillWork,
    clock: Callable[[], float],
) -> Brought:
    """Have the prompt computed there; the call for the target then says where it lies."""
    asked_at_s = clock()
    with work:
        handed_over = await computed(_handed_over(asker, transfer, source, use), use.bound_s)
    if handed_over is None:
        raise KvFailure(KvOutcome.REFUSED, "The prompt is too short for the prefill replica to hand anything over.")
    lease_s = handed_over.lease_s
    return Brought(
        transfer.decode(use.call, handed_over),
        tokens=handed_over.tokens,
        byte_count=handed_over.byte_count,
        lease_until_s=inf if lease_s is None else asked_at_s + lease_s,
        is_fetched_later=True,
        is_handed_over=True,
        lease_s=lease_s,
        release=transfer.release(use.call, handed_over),
    )


async def _handed_over(
    asker: EngineAsker, transfer: SequentialTransfer, source: ReplicaWire, use: KvUse
) -> HandedOver | None:
    prefill = transfer.prefill(moved_call(use.call, use.wire.replica, source.replica))
    answer = await asker.ask(source, prefill, use.request_id, timeout_s=use.bound_s)
    if answer.status != 200:
        raise refused_prefill(answer.status)
    return transfer.read(answer.body)


def meet(
    asker: EngineAsker,
    transfer: PairedTransfer,
    source: ReplicaWire,
    use: KvUse,
    *,
    place: tuple[int, int],
    work: PrefillWork,
    group: asyncio.TaskGroup,
    on_lost: Callable[[KvFailure], None],
) -> Brought:
    """Ask the prefill replica and leave it to that; `place` is its port and the room where the two meet."""
    host, (port, room) = source.replica.host, place
    prefill = transfer.pair(moved_call(use.call, use.wire.replica, source.replica), host, port, room)

    async def compute() -> None:
        try:
            with work:
                await _paired(asker, source, prefill, use)
        except KvFailure as failure:
            on_lost(failure)

    other_side = group.create_task(compute(), name=f"prefill of {use.request_id}")
    return Brought(transfer.pair(use.call, host, port, room), is_fetched_later=True, other_side=other_side)


async def _paired(asker: EngineAsker, source: ReplicaWire, prefill: EngineRequest, use: KvUse) -> None:
    """It answers when the other side has read: one that is late may be waiting for that, and has shown nothing."""
    try:
        answer = await asker.ask(source, prefill, use.request_id, timeout_s=use.bound_s)
    except EngineStalled as error:
        raise failure_of(error) from error
    except EngineError as error:
        raise not_computed(error) from error
    if answer.status != 200:
        raise refused_prefill(answer.status)
