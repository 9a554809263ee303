"""Gives replicas the LoRA adapters that requests ask for, and takes back those used longest ago when room is short.

    keeper = AdapterKeeper(ENGINES, pool, clock=time.monotonic)
    await keeper.run()                     until cancelled
    use = keeper.use(replica, "law")       from here on it is not taken away
    use.when_ready(then)                   at once, or when it has been loaded
    use.end()

Every worker keeps its own account. What others have loaded or unloaded it learns from the engine's model list, which
is read before anything is changed.
"""

import asyncio
from collections.abc import Callable, Mapping

from heterodyne.concurrency.deadline import deadline
from heterodyne.control.adapter_slots import AdapterSlots
from heterodyne.control.engine_fetch import get, post
from heterodyne.control.readings import adapters_listed
from heterodyne.domain.adapter import Nearness
from heterodyne.domain.errors import AdapterUnavailable, EngineError, EngineGarbage, EngineStalled
from heterodyne.domain.fleet import FleetSnapshot, Replica, ReplicaId
from heterodyne.engines.error_answer import read_error
from heterodyne.engines.header_lines import header_lines
from heterodyne.engines.replica_address import replica_address
from heterodyne.ports.adapters import Ready
from heterodyne.ports.engine_control import ControlCall, EngineControl
from heterodyne.telemetry import log, metrics
from heterodyne.wire.connection_pool import ConnectionPool
from heterodyne.wire.fetch import Fetched

LIST_TIMEOUT_S = 5.0
LOAD_TIMEOUT_S = 120.0  # an engine may have to download it first
ROOM_TIMEOUT_S = 10.0  # for one of those it holds to be used no more
CROWDED_RETRY_AFTER_S = 1

_log = log.get("control")


class AdapterLoader:
    """One per worker. The pool is its own, and closed at the end."""

    def __init__(
        self,
        engines: Mapping[str, EngineControl],
        pool: ConnectionPool,
        *,
        clock: Callable[[], float],
        load_timeout_s: float = LOAD_TIMEOUT_S,
        room_timeout_s: float = ROOM_TIMEOUT_S,
    ) -> None:
        self._engines = engines
        self._pool = pool
        self._clock = clock
        self._load_timeout_s = load_timeout_s
        self._room_timeout_s = room_timeout_s
        self._slots: dict[ReplicaId, AdapterSlots] = {}
        self._group: asyncio.TaskGroup | None = None

    async def run(self) -> None:
        """Load and unload until cancelled."""
        try:
            async with asyncio.TaskGroup() as self._group:
                await asyncio.Event().wait()
        finally:
            self._group = None
            await self._pool.close()

    def publish(self, snapshot: FleetSnapshot) -> None:
        """A newer fleet: what is known of replicas that stay is kept."""
        before, self._slots = self._slots, {}
        for replica in snapshot.replicas:
            if replica.adapters:
                slots = before.get(replica.id)
                if slots is None or replica_address(slots.replica) != replica_address(replica):
                    slots = self._new_slots(replica)
                slots.know(replica, self._clock())
                self._slots[replica.id] = slots
        if before.keys() != self._slots.keys():
            self._pool.forget({replica_address(slots.replica) for slots in self._slots.values()})

    def nearness(self, replica: Replica, name: str) -> Nearness:
        return self._slots_of(replica).nearness(name, self._clock())

    def use(self, replica: Replica, name: str) -> "_Use":
        return _Use(self, self._slots_of(replica), name, self._clock())

    def doubt(self, replica: ReplicaId, name: str) -> bool:
        slots = self._slots.get(replica)
        return slots is not None and slots.went(name, self._clock())

    def forget(self, replica: ReplicaId) -> None:
        """It has restarted."""
        slots = self._slots.get(replica)
        if slots is not None:
            slots.forget(self._clock())

    @property
    def uses(self) -> int:
        """Claims that have not ended, at replicas of the fleet."""
        return sum(slots.claims for slots in self._slots.values())

    def snapshot(self) -> dict[ReplicaId, tuple[str, ...]]:
        """What replicas were given and hold, the one used longest ago first."""
        return {id: slots.held for id, slots in self._slots.items()}

    def when_ready(self, slots: AdapterSlots, name: str, then: Ready) -> None:
        """Called by a use."""
        if name in slots.waiting:
            slots.waiting[name].append(then)
        elif slots.has(name) and (not slots.is_stale(name) or slots.uses(name) > 1):
            then(None)
        elif (failure := slots.failure(name, self._clock())) is not None:
            then(failure)
        elif self._group is None:
            then(AdapterUnavailable(f"The adapter {name!r} is not loaded, and the gateway is leaving."))
        else:
            # It goes on when all requests have left: the next request for the adapter finds it there.
            slots.waiting[name] = [then]
            self._group.create_task(self._bring(slots, name), name=f"adapter {name} to {slots.replica.id}")

    def released(self, slots: AdapterSlots, name: str) -> None:
        """Called by a use."""
        slots.release(name, self._clock())

    def _slots_of(self, replica: Replica) -> AdapterSlots:
        slots = self._slots.get(replica.id)
        if slots is None:
            slots = self._slots[replica.id] = self._new_slots(replica)
        return slots

    def _new_slots(self, replica: Replica) -> AdapterSlots:
        can_load = self._engines[replica.engine].load_adapter("", "") is not None
        return AdapterSlots(replica, self._clock(), can_load=can_load)

    async def _bring(self, slots: AdapterSlots, name: str) -> None:
        replica, began_s = slots.replica, self._clock()
        failure: EngineError | None = None
        try:
            async with slots.changing:
                await self._give(slots, name)
        except EngineError as error:
            failure = error
            if not isinstance(error, AdapterUnavailable):
                metrics.adapter_failures.add((replica.model, replica.pool, "unreachable"))
            _log.warning("adapter_failed", replica=replica.id, adapter=name, error=str(error))
        except Exception as error:  # noqa: BLE001  # the root of a task: our mistake must not end the gateway
            failure = AdapterUnavailable("An internal error; the log has the details.")
            _log.error("adapter_failed", replica=replica.id, adapter=name, exc_info=error)
        else:
            metrics.adapter_load_seconds.observe((replica.model, replica.pool), self._clock() - began_s)
        # Each on its own, so that one that fails leaves the others their answer.
        loop = asyncio.get_running_loop()
        for then in slots.waiting.pop(name):
            loop.call_soon(then, failure)

    async def _give(self, slots: AdapterSlots, name: str) -> None:
        await self._read_list(slots)
        if slots.is_stale(name):
            await self._unload(slots, name)
        elif slots.has(name):
            return
        while slots.is_full:
            idle = slots.idlest()
            if idle is not None:
                await self._unload(slots, idle)
            else:
                await self._wait_idle(slots)
        await self._load(slots, name)

    async def _read_list(self, slots: AdapterSlots) -> None:
        """An engine without a list is believed to hold what it was given."""
        replica = slots.replica
        engine, at_s = self._engines[replica.engine], self._clock()
        if engine.models_path is None:
            return
        page = await get(
            self._pool,
            replica_address(replica),
            replica.base_path + engine.models_path,
            timeout_s=LIST_TIMEOUT_S,
            headers=header_lines(replica, engine),
        )
        if page.status == 200:
            try:
                slots.take_list(adapters_listed(engine.read_models(page.body)), at_s)
            except EngineGarbage as error:
                _log.warning("adapters_unread", replica=replica.id, error=str(error))

    async def _wait_idle(self, slots: AdapterSlots) -> None:
        slots.has_idle.clear()
        try:
            async with deadline(self._room_timeout_s):
                await slots.has_idle.wait()
        except TimeoutError as error:
            replica = slots.replica
            metrics.adapter_failures.add((replica.model, replica.pool, "crowded"))
            raise AdapterUnavailable(
                f"The {replica.adapters_max} adapters that a replica of {replica.model!r} may hold at once are in use.",
                retry_after_s=CROWDED_RETRY_AFTER_S,
            ) from error

    async def _unload(self, slots: AdapterSlots, name: str) -> None:
        replica = slots.replica
        slots.went(name, self._clock())  # first: from here on no request may count on it
        call = self._engines[replica.engine].unload_adapter(name)
        assert call is not None, "an engine that loads adapters also unloads them"
        answer = await self._order(replica, call, "unload", name)
        if answer.status == 200:
            metrics.adapter_unloads.add((replica.model, replica.pool))
            _log.info("adapter_unloaded", replica=replica.id, adapter=name)
        elif answer.status not in (400, 404):  # which say that it is gone already
            raise self._refused(replica, "unload", name, answer)

    async def _load(self, slots: AdapterSlots, name: str) -> None:
        replica = slots.replica
        source = replica.adapters.get(name)
        call = self._engines[replica.engine].load_adapter(name, source) if source is not None else None
        if call is None:
            raise AdapterUnavailable(f"The adapter {name!r} is no longer declared for this replica.")
        try:
            answer = await self._order(replica, call, "load", name)
            if answer.status != 200:
                await self._read_list(slots)  # another worker may have been first
                if not slots.has(name):
                    raise self._refused(replica, "load", name, answer)
        except AdapterUnavailable as error:
            slots.failed(name, self._clock(), error)
            raise
        slots.came(name, self._clock())
        metrics.adapter_loads.add((replica.model, replica.pool))
        _log.info("adapter_loaded", replica=replica.id, adapter=name)

    async def _order(self, replica: Replica, call: ControlCall, what: str, name: str) -> Fetched:
        path = replica.base_path + call.path
        try:
            return await post(
                self._pool,
                replica_address(replica),
                path,
                call.body,
                timeout_s=self._load_timeout_s,
                headers=header_lines(replica, self._engines[replica.engine]),
            )
        except EngineStalled as error:
            metrics.adapter_failures.add((replica.model, replica.pool, "timeout"))
            raise AdapterUnavailable(
                f"The engine did not {what} the adapter {name!r} within {self._load_timeout_s:g} s."
            ) from error

    def _refused(self, replica: Replica, what: str, name: str, answer: Fetched) -> AdapterUnavailable:
        metrics.adapter_failures.add((replica.model, replica.pool, "refused"))
        words = read_error(answer.body).message or f"status {answer.status}"
        if answer.status == 404:
            words += " (was it started so that adapters can be loaded while it runs?)"
        return AdapterUnavailable(f"The engine does not {what} the adapter {name!r}: {words}")


class _Use:
    """One request's claim; see the port."""

    __slots__ = ("_adapter_loader", "_is_over", "_name", "_slots_of")

    def __init__(self, adapter_loader: AdapterLoader, slots: AdapterSlots, name: str, now_s: float) -> None:
        self._adapter_loader = adapter_loader
        self._slots_of = slots
        self._name = name
        self._is_over = False
        slots.claim(name, now_s)

    def when_ready(self, then: Ready) -> None:
        self._adapter_loader.when_ready(self._slots_of, self._name, then)

    def end(self) -> None:
        if not self._is_over:
            self._is_over = True
            self._adapter_loader.released(self._slots_of, self._name)
