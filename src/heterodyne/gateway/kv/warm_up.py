"""Gives a new replica what its model is asked for most, before users are sent there.

It is asked the hottest prompts, for one token each, one after the other: the first is what most others begin with. A
replica whose slots are saved to files is given the files that there are. None of it may fail the replica: what is not
done within the pool's bound is not done.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Final

from heterodyne.concurrency.deadline import deadline
from heterodyne.domain.errors import EngineError, EngineGarbage
from heterodyne.domain.fleet import Replica, rule_against
from heterodyne.engines.kv_transfer.catalogue import FILES
from heterodyne.engines.one_token import one_token_call
from heterodyne.gateway.fleet_view import FleetView, ReplicaWire
from heterodyne.gateway.kv.kv_failure import KvFailure, KvOutcome, failure_of
from heterodyne.gateway.kv.move_slot import SlotMover
from heterodyne.gateway.kv.moved_call import moved_call
from heterodyne.gateway.kv.recent_prompts import RecentPrompt, RecentPrompts
from heterodyne.gateway.kv.slot_book import NOTHING, SlotBook
from heterodyne.gateway.kv.transfers import KvTransfers
from heterodyne.ports.engine_request import EngineRequest
from heterodyne.routing.kv.chain import Chain
from heterodyne.routing.kv.conversations import HotPrefix, hottest_of
from heterodyne.routing.router import Router
from heterodyne.telemetry import log, metrics

REQUEST_ID: Final = "kv-warm-up"
LOOKED_AT: Final = 4  # times as many prefixes as prompts are wanted: of some no prompt is kept that may be sent

_log = log.get("gateway")


class WarmUpOutcome(StrEnum):
    """What came of one prompt."""

    COMPUTED = "computed"
    RESTORED = "restored"  # from a file
    REFUSED = "refused"
    UNREACHABLE = "unreachable"  # the replica is not there, or went away
    LATE = "late"  # it did not come within the bound


OUTCOMES: Final = {
    KvOutcome.LATE: WarmUpOutcome.LATE,
    KvOutcome.UNREACHABLE: WarmUpOutcome.UNREACHABLE,
}


class KvWarmer:
    """One per worker."""

    def __init__(
        self,
        fleet: FleetView,
        prompts: RecentPrompts,
        router: Router,
        transfers: KvTransfers,
        *,
        clock: Callable[[], float],
    ) -> None:
        self._fleet = fleet
        self._prompts = prompts
        self._router = router
        self._transfers = transfers
        self._clock = clock

    async def warm_up(self, replica: Replica) -> None:
        """Return when it may be given work: at once where nothing is known that it should hold, and where nobody else
        answers meanwhile."""
        wanted = replica.kv_warm_up
        if wanted is None or not self._has_others(replica):
            return
        began_at_s = self._clock()
        outcomes: list[WarmUpOutcome] = []
        try:
            async with deadline(wanted.bound_s):
                prompts = await self._hottest(replica, wanted.prompts)
                await self._give_each(replica, prompts, outcomes, timeout_s=wanted.bound_s)
        except TimeoutError:
            outcomes.append(WarmUpOutcome.LATE)
        if not outcomes:
            return
        took_s, labels = self._clock() - began_at_s, (replica.model, replica.pool)
        counts = Counter(outcome.value for outcome in outcomes)
        for outcome, count in counts.items():
            metrics.kv_warm_ups.add((*labels, outcome), count)
        metrics.kv_warm_up_seconds.observe(labels, took_s)
        _log.info("kv_warmed_up", replica=replica.id, took_ms=round(1000 * took_s), **counts)

    def _has_others(self, replica: Replica) -> bool:
        """Whether the model is answered without it; a replica that may not have its prompts is no replica of it."""
        snapshot = self._fleet.snapshot
        if rule_against(replica, snapshot.rules.get(replica.model)):
            return False
        return any(one.is_takeable and one.id != replica.id for one in snapshot.by_model.get(replica.model, ()))

    async def _hottest(self, replica: Replica, count: int) -> Sequence[RecentPrompt]:
        known = self._router.fabric.conversations.by_model().get(replica.model, ())
        prefixes = await asyncio.to_thread(hottest_of, known, LOOKED_AT * count, self._clock())
        return chosen(prefixes, self._prompts, replica, count)

    async def _give_each(
        self, replica: Replica, prompts: Sequence[RecentPrompt], outcomes: list[WarmUpOutcome], *, timeout_s: float
    ) -> None:
        """One after the other, until it is not there any more."""
        wire, book = self._fleet.wire(replica.id), None
        try:
            if prompts and replica.kv_transfer in FILES:
                book = await self._transfers.count_slots(replica)
                prompts = prompts[: book.slots]
            for prompt in prompts:
                outcome = await self._give(wire, prompt, book, timeout_s=timeout_s)
                outcomes.append(outcome)
        except EngineError as error:
            outcomes.append(OUTCOMES.get(failure_of(error).outcome, WarmUpOutcome.REFUSED))
            _log.info("kv_warm_up_failed", replica=replica.id, error=error.message)

    async def _give(
        self, wire: ReplicaWire, prompt: RecentPrompt, book: SlotBook | None, *, timeout_s: float
    ) -> WarmUpOutcome:
        call = moved_call(prompt.call, prompt.made_for, wire.replica)
        chain, outcome = prompt.request.chain, WarmUpOutcome.COMPUTED
        if book is None:
            answer = await self._transfers.asker.ask(wire, one_token_call(call), REQUEST_ID, timeout_s=timeout_s)
            if answer.status != 200:
                return WarmUpOutcome.REFUSED
        else:
            try:
                blocks = await self._fill_slot(wire, prompt, call, book, timeout_s=timeout_s)
            except KvFailure as failure:
                _log.info("kv_warm_up_missed", replica=wire.replica_id, error=str(failure))
                return WarmUpOutcome.REFUSED
            if blocks:
                chain, outcome = Chain(chain.hashes[:blocks], chain.ends[:blocks]), WarmUpOutcome.RESTORED
        held = prompt.request.copied()
        held.chain = chain
        self._router.on_warmed_up(held, wire.replica_id, self._clock())
        return outcome

    async def _fill_slot(
        self, wire: ReplicaWire, prompt: RecentPrompt, call: EngineRequest, book: SlotBook, *, timeout_s: float
    ) -> int:
        """Blocks of the prompt that a slot has from a file now; 0: all of it was computed."""
        mover = SlotMover(self._transfers.asker, FILES[wire.replica.kv_transfer], self._transfers.files_of(wire))
        try:
            return await _restore(mover, wire, prompt, book, timeout_s=timeout_s)
        except (KvFailure, EngineGarbage):  # no file, or not as it should be
            hashes = prompt.request.chain.hashes
            await mover.compute(wire, book, call, hashes, REQUEST_ID, timeout_s=timeout_s)
            return 0


def chosen(
    prefixes: Sequence[HotPrefix], prompts: RecentPrompts, replica: Replica, count: int
) -> tuple[RecentPrompt, ...]:
    """What is to be asked, the hottest first: for each prefix a prompt that begins with it and may go there."""
    found: list[RecentPrompt] = []

    def may(one: RecentPrompt) -> bool:
        return one.made_for.engine == replica.engine and one.request.may_go_to(replica)

    for prefix in prefixes:
        if len(found) == count:
            break
        if any(one.begins_with(prefix.chain) for one in found):
            continue
        prompt = prompts.try_shortest(prefix.chain, may)
        if prompt is not None:
            found.append(prompt)
    return tuple(found)


async def _restore(
    mover: SlotMover, wire: ReplicaWire, prompt: RecentPrompt, book: SlotBook, *, timeout_s: float
) -> int:
    """Blocks of the prompt that a slot has from a file now."""
    request = prompt.request
    slot = book.try_take(request.chain.hashes)
    if slot is None:
        raise KvFailure(KvOutcome.CROWDED, "No slot of the replica is free.")
    try:
        book.hold(slot, NOTHING)  # until it is done
        file, blocks = await mover.from_folder(wire.replica.kv_layout, request.tenant, request.chain.hashes)
        await mover.restore(wire, slot, file, prompt.call, timeout_s=timeout_s)
        book.hold(slot, request.chain.hashes[:blocks])
        return blocks
    finally:
        book.release(slot)
