"""Brings KV to replicas before they are asked, each in the protocol of its engine. One per worker.

    await transfers.run()                      until cancelled
    transfers.publish(snapshot)
    use = transfers.use(wire, choice.kv_plan, …)   None: the replica's engine exchanges no KV

A request waits for its KV within a bound that the forecast sets, and is then asked plainly: what fails here costs time,
never an answer. Exchanges are bounded in number; one too many is not begun.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Final, Protocol

from heterodyne.admission.concurrency_limit import ConcurrencyLimit
from heterodyne.concurrency.deadline import deadline_at
from heterodyne.domain.errors import EngineError
from heterodyne.domain.fleet import FleetSnapshot, Health, Replica, ReplicaId
from heterodyne.domain.kv_origin import KvOrigin
from heterodyne.engines.kv_transfer.catalogue import FILES, IMPLICIT, PAIRED, SEQUENTIAL
from heterodyne.gateway.fleet_view import FleetView, ReplicaWire
from heterodyne.gateway.kv.abandoned_kv import AbandonedKv
from heterodyne.gateway.kv.both_sides import bootstrap_port, check_alike
from heterodyne.gateway.kv.brought import Brought
from heterodyne.gateway.kv.engine_asker import EngineAsker
from heterodyne.gateway.kv.hand_over import hand_over, meet
from heterodyne.gateway.kv.kv_failure import KvFailure, KvOutcome, failure_of
from heterodyne.gateway.kv.kv_use import KvUse
from heterodyne.gateway.kv.leaving_slots import LeavingSlots
from heterodyne.gateway.kv.move_slot import SlotMover
from heterodyne.gateway.kv.moved_call import moved_call
from heterodyne.gateway.kv.prefetcher import OnHeld, Prefetcher
from heterodyne.gateway.kv.prefill_work import PrefillWork, computed
from heterodyne.gateway.kv.slot_book import HeldSlot, SlotBook
from heterodyne.gateway.kv.slot_files import SlotFiles
from heterodyne.gateway.kv.slot_keeper import SlotKeeper
from heterodyne.ports.engine_control import ControlCall
from heterodyne.routing.fabric.pinned import PinnedKv
from heterodyne.routing.health.replica_health import ReplicaHealth
from heterodyne.routing.routing_choice import Forecast, KvPlan, RoutingChoice
from heterodyne.routing.routing_request import RoutingRequest
from heterodyne.routing.ticket import Ticket
from heterodyne.telemetry import log, metrics

BOUND_FACTOR: Final = 2.0  # of the forecast
BOUND_SLACK_S: Final = 0.5  # beside it: what a question to an engine may take that has other things to do
TRANSFERS_MAX: Final = 64  # at once
SLOTS_TIMEOUT_S: Final = 5.0
SLOTS_RETRY_S: Final = 5.0

_log = log.get("gateway")


class HealthOf(Protocol):
    """The health of every replica."""

    def of(self, replica: ReplicaId) -> ReplicaHealth: ...


class KvTransfers:
    """The connections are its own, and closed at the end. Folders of slot files are known by their store's name."""

    def __init__(
        self,
        fleet: FleetView,
        asker: EngineAsker,
        *,
        limit: ConcurrencyLimit,
        health: Callable[[], HealthOf],
        files: Mapping[str, SlotFiles],
        pinned: PinnedKv,
        on_held: OnHeld,
        clock: Callable[[], float],
        room: Callable[[], int],
    ) -> None:
        self._fleet = fleet
        self.asker = asker
        self._limit = limit
        self._health = health  # another where the rules of health change
        self.files = files  # by store
        self._clock = clock
        self._room = room
        self._books: dict[ReplicaId, SlotBook] = {}
        self._asked_slots_at_s: dict[ReplicaId, float] = {}
        self._group: asyncio.TaskGroup | None = None
        self._keeper = SlotKeeper()
        self._leaving = LeavingSlots(limit)
        self._abandoned = AbandonedKv(fleet, asker, pinned, clock)
        self.prefetcher = Prefetcher(fleet, self.book, files, self._try_mover, on_held=on_held, clock=clock)
        self.running = 0  # exchanges

    async def run(self) -> None:
        """Until cancelled."""
        for name, files in self.files.items():
            try:
                await files.open()
            except OSError as error:
                _log.error("kv_folder_unusable", store=name, error=str(error))
        try:
            async with asyncio.TaskGroup() as group:
                self._group = group
                try:
                    await asyncio.Event().wait()
                finally:
                    self._group = None  # from here on nothing is begun
        finally:
            await self.asker.close()

    def publish(self, snapshot: FleetSnapshot) -> None:
        """A newer fleet: what is in slots of replicas that stay is kept."""
        known = {replica.id: replica for replica in snapshot.replicas if replica.kv_transfer in FILES}
        self._books = {id: book for id, book in self._books.items() if id in known}
        self._asked_slots_at_s = {id: at_s for id, at_s in self._asked_slots_at_s.items() if id in known}
        for replica in known.values():
            if replica.id not in self._books and replica.health is Health.READY:
                self._ask_slots(replica)
            elif replica.is_draining:
                self._save_leaving(self._fleet.wire(replica.id))

    def forget(self, replica: ReplicaId) -> None:
        """It has restarted: its slots are empty, and may be others."""
        self._books.pop(replica, None)
        self._asked_slots_at_s.pop(replica, None)
        for one in self._fleet.snapshot.replicas:
            if one.id == replica and one.kv_transfer in FILES and one.health is Health.READY:
                self._ask_slots(one)  # if nothing else about it changes, nobody else will

    def book(self, replica: ReplicaId) -> SlotBook | None:
        """What is in its slots; None: it has none, or has not said how many."""
        return self._books.get(replica)

    def usable(self, choice: RoutingChoice, wire: ReplicaWire, request: RoutingRequest) -> KvPlan | None:
        """The plan of a choice, unless nobody could tell when the KV was read, for an answer comes whole and late."""
        plan = choice.kv_plan
        if plan is None or choice.is_repeated or not wire.has_kv:  # whoever repeats a request asks plainly
            return None
        transfer = SEQUENTIAL.get(wire.replica.kv_transfer)
        if transfer is None or bound_s(plan) + whole_s(request, plan.forecast) < transfer.lease_s:
            return plan
        return None

    def use(
        self,
        wire: ReplicaWire,
        plan: KvPlan | None,
        request: RoutingRequest,
        *,
        forecast: Forecast,
        request_id: str,
        ticket: Ticket | None,
    ) -> KvUse | None:
        """What an attempt on the replica has to do with KV; None: nothing."""
        book, slots = self._books.get(wire.replica_id), FILES.get(wire.replica.kv_transfer)
        if book is not None:
            self.prefetcher.asked(wire, request)
        elif plan is None:
            return None
        return KvUse(
            self,
            wire,
            plan,
            request,
            request_id,
            book=book,
            slots=slots,
            ticket=ticket,
            bound_s=0.0 if plan is None else bound_s(plan),
            answer_s=whole_s(request, forecast),
            now_s=self._clock(),
        )

    # Called by a use.

    def begin(self, use: KvUse) -> None:
        if self._group is None or self.running >= TRANSFERS_MAX:
            use.missed(KvFailure(KvOutcome.CROWDED, "As many exchanges run as may."), self._clock())
            return
        self.running += 1
        use.task = self._group.create_task(self._bring(use), name=f"KV for {use.request_id}")
        use.task.add_done_callback(self._ended)

    def answered(self, use: KvUse, book: SlotBook, slot: int) -> None:
        mover = self._try_mover(use.wire)
        if self._group is None or mover is None:
            return
        if use.wire.replica.is_draining:
            self._leaving.save(self._group, mover, use.wire, book)
            return
        held = HeldSlot(slot, use.request.chain.hashes)
        self._keeper.answered(self._group, mover, use.wire, book, held=held, tenant=use.request.tenant)
        self.prefetcher.answered(self._group, use.wire, use.request)

    def abandoned(self, use: KvUse, brought: Brought, *, was_told: bool) -> None:
        if self._group is None or self.running >= TRANSFERS_MAX:
            return
        self.running += 1
        letting_go = self._abandoned.let_go(use, brought, was_told=was_told)
        self._group.create_task(letting_go, name=f"unread KV of {use.request_id}").add_done_callback(self._ended)

    def settled(self, use: KvUse, outcome: KvOutcome) -> None:
        plan, replica = use.plan, use.wire.replica
        assert plan is not None
        labels = (replica.model, replica.pool, plan.origin.value)
        metrics.kv_transfers.add((*labels, outcome.value))
        if outcome is KvOutcome.ARRIVED:
            metrics.kv_bytes.add(labels, use.byte_count)
            metrics.kv_seconds.observe(labels, self._clock() - use.asked_at_s)

    def _ended(self, _: "asyncio.Task[None]") -> None:
        self.running -= 1

    async def _bring(self, use: KvUse) -> None:
        try:
            brought = await self._exchange(use)
        except KvFailure as failure:
            self._missed(use, failure)
        except EngineError as error:
            self._missed(use, failure_of(error))
        except TimeoutError:
            self._missed(use, KvFailure(KvOutcome.LATE, f"It did not come within {use.bound_s:.3f} s."))
        except Exception as error:  # noqa: BLE001  # the root of a task: our mistake must not cost the request its answer
            _log.error("kv_failed", request_id=use.request_id, replica=use.wire.replica_id, exc_info=error)
            use.missed(KvFailure(KvOutcome.REFUSED, "An internal error."), self._clock())
        else:
            use.came(brought, self._clock())

    def _missed(self, use: KvUse, failure: KvFailure) -> None:
        _log.info(
            "kv_missed",
            request_id=use.request_id,
            replica=use.wire.replica_id,
            outcome=failure.outcome.value,
            error=str(failure),
        )
        use.missed(failure, self._clock())

    async def _exchange(self, use: KvUse) -> Brought:
        plan, wire = use.plan, use.wire
        assert plan is not None
        word = wire.replica.kv_transfer
        if word in FILES and plan.origin is not KvOrigin.HOST:
            return await self._move_slot(use, plan, SlotMover(self.asker, FILES[word], self.files_of(wire)))
        if plan.source is None or word in IMPLICIT:
            return Brought(use.call, is_fetched_later=True)  # the engine finds it by itself
        source = self._fleet.wire(plan.source.replica_id)
        check_alike(source.replica, wire.replica)
        if word in SEQUENTIAL:
            return await hand_over(
                self.asker, SEQUENTIAL[word], source, use, work=self._work_on(source), clock=self._clock
            )
        return self._meet(use, source)

    async def _move_slot(self, use: KvUse, plan: KvPlan, mover: SlotMover) -> Brought:
        wire, request, hashes = use.wire, use.request, use.request.chain.hashes
        slot, until_s = use.slot, asyncio.get_running_loop().time() + use.bound_s
        if slot is None:
            raise KvFailure(KvOutcome.CROWDED, "No slot of the replica is free.")
        source, book = self._source(plan, wire)
        # Computing the prompt has a bound of its own, by which its replica is judged.
        if plan.origin is KvOrigin.PREFILL and source is not None and book is not None:
            call = moved_call(use.call, wire.replica, source.replica)
            with self._work_on(source):
                asked = mover.compute(source, book, call, hashes, use.request_id, timeout_s=use.bound_s)
                await computed(asked, use.bound_s)
        async with deadline_at(until_s):
            if source is None or book is None:
                file, _ = await mover.from_folder(wire.replica.kv_layout, request.tenant, hashes)
            else:
                file = await mover.from_replica(source, book, request.tenant, hashes, timeout_s=use.bound_s)
            return await mover.restore(wire, slot, file, use.call, timeout_s=use.bound_s)

    def _source(self, plan: KvPlan, wire: ReplicaWire) -> tuple[ReplicaWire | None, SlotBook | None]:
        """The replica that a slot comes from, and what its slots hold; None, twice: it comes from the folder."""
        if plan.source is None:
            return None, None
        source = self._fleet.wire(plan.source.replica_id)
        check_alike(source.replica, wire.replica)
        book = self._books.get(source.replica_id)
        if book is None:
            raise KvFailure(KvOutcome.MISSING, "It is not known what the source's slots hold.")
        return source, book

    def _meet(self, use: KvUse, source: ReplicaWire) -> Brought:
        assert self._group is not None
        return meet(
            self.asker,
            PAIRED[use.wire.replica.kv_transfer],
            source,
            use,
            place=(bootstrap_port(source.replica), self._room()),
            work=self._work_on(source),
            group=self._group,
            on_lost=lambda failure: self._missed(use, failure),
        )

    def _work_on(self, source: ReplicaWire) -> PrefillWork:
        return PrefillWork(self._limit, self._health().of(source.replica_id), source.replica_id, self._clock)

    def _save_leaving(self, wire: ReplicaWire) -> None:
        """It takes nothing new: what it holds is to be had elsewhere before it ends."""
        mover, book = self._try_mover(wire), self._books.get(wire.replica_id)
        if self._group is not None and mover is not None and book is not None:
            self._leaving.save(self._group, mover, wire, book)

    def _try_mover(self, wire: ReplicaWire) -> SlotMover | None:
        """Of the folder that its slots are saved to; None: there is none."""
        files, transfer = self.files.get(wire.replica.kv_store), FILES.get(wire.replica.kv_transfer)
        return None if files is None or transfer is None else SlotMover(self.asker, transfer, files)

    def files_of(self, wire: ReplicaWire) -> SlotFiles:
        """The folder that its slots are saved to."""
        files = self.files.get(wire.replica.kv_store)
        if files is None:
            raise KvFailure(KvOutcome.MISMATCHED, "The replica's pool names no folder that slots are saved to.")
        return files

    def _ask_slots(self, replica: Replica) -> None:
        """Its slots are counted once, and again later where that fails."""
        now_s = self._clock()
        if self._group is None or now_s < self._asked_slots_at_s.get(replica.id, -SLOTS_RETRY_S) + SLOTS_RETRY_S:
            return
        self._asked_slots_at_s[replica.id] = now_s
        self._group.create_task(self._try_count_slots(replica), name=f"slots of {replica.id}")

    async def _try_count_slots(self, replica: Replica) -> None:
        try:
            await self.count_slots(replica)
        except (EngineError, LookupError) as error:
            _log.warning("kv_slots_unknown", replica=replica.id, error=str(error))

    async def count_slots(self, replica: Replica) -> SlotBook:
        """Those of a replica of the fleet, which is asked how many it has where that is not known; raises an
        EngineError."""
        if (book := self._books.get(replica.id)) is not None:
            return book
        transfer = FILES[replica.kv_transfer]
        order = ControlCall("GET", transfer.slots_path)
        page = await self.asker.order(self._fleet.wire(replica.id), order, timeout_s=SLOTS_TIMEOUT_S)
        slots = transfer.read_slots(page.status, page.body)
        return self._books.setdefault(replica.id, SlotBook(slots))


def bound_s(plan: KvPlan) -> float:
    """The longest that a request waits for its KV before it is asked without."""
    return BOUND_FACTOR * plan.takes_s + BOUND_SLACK_S


def whole_s(request: RoutingRequest, forecast: Forecast) -> float:
    """The longest that the rest of an answer takes which comes whole; 0 of a stream."""
    return 0.0 if request.streams else BOUND_FACTOR * forecast.itl_s * request.output_tokens
