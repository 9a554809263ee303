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
import os
from collections.abc import Callable, Mapping

from heterodyne.concurrency.deadline import deadline
from heterodyne.control.adapter_shelf import AdapterShelf
from heterodyne.control.readings import adapters_listed
from heterodyne.domain.adapter import Nearness
from heterodyne.domain.errors import AdapterUnavailable, EngineError, EngineGarbage, EngineStalled
from heterodyne.domain.fleet import FleetSnapshot, Replica, ReplicaId
from heterodyne.engines.error_answer import read_error
from heterodyne.ports.adapters import Ready
from heterodyne.ports.engine_control import ControlCall, EngineControl
from heterodyne.telemetry import log, metrics
from heterodyne.wire.connection_pool import Address, ConnectionPool
from heterodyne.wire.fetch import Fetched, get, post

LIST_TIMEOUT_S = 5.0
LOAD_TIMEOUT_S = 120.0  # an engine may have to download it first
ROOM_TIMEOUT_S = 10.0  # for one of those it holds to be used no more
CROWDED_RETRY_AFTER_S = 1

_log = log.get("control")


class AdapterKeeper:
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
        self._shelves: dict[ReplicaId, AdapterShelf] = {}
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
        before, self._shelves = self._shelves, {}
        for replica in snapshot.replicas:
            if replica.adapters:
                shelf = before.get(replica.id)
                if shelf is None or _address(shelf.replica) != _address(replica):
                    shelf = self._new_shelf(replica)
                shelf.know(replica, self._clock())
                self._shelves[replica.id] = shelf
        if before.keys() != self._shelves.keys():
            self._pool.forget({_address(shelf.replica) for shelf in self._shelves.values()})

    def nearness(self, replica: Replica, name: str) -> Nearness:
        return self._shelf(replica).nearness(name, self._clock())

    def use(self, replica: Replica, name: str) -> "_Use":
        return _Use(self, self._shelf(replica), name, self._clock())

    def doubt(self, replica: ReplicaId, name: str) -> bool:
        shelf = self._shelves.get(replica)
        return shelf is not None and shelf.went(name, self._clock())

    def forget(self, replica: ReplicaId) -> None:
        """It has restarted."""
        shelf = self._shelves.get(replica)
        if shelf is not None:
            shelf.forget(self._clock())

    @property
    def uses(self) -> int:
        """Claims that have not ended, at replicas of the fleet."""
        return sum(shelf.claims for shelf in self._shelves.values())

    def snapshot(self) -> dict[ReplicaId, tuple[str, ...]]:
        """What replicas were given and hold, the one used longest ago first."""
        return {id: shelf.held for id, shelf in self._shelves.items()}

    def when_ready(self, shelf: AdapterShelf, name: str, then: Ready) -> None:
        """Called by a use."""
        if name in shelf.waiting:
            shelf.waiting[name].append(then)
        elif shelf.has(name) and (not shelf.is_stale(name) or shelf.uses(name) > 1):
            then(None)
        elif (failure := shelf.failure(name, self._clock())) is not None:
            then(failure)
        elif self._group is None:
            then(AdapterUnavailable(f"The adapter {name!r} is not loaded, and the gateway is leaving."))
        else:
            # It goes on when everybody has left: the next request for the adapter finds it there.
            shelf.waiting[name] = [then]
            self._group.create_task(self._bring(shelf, name), name=f"adapter {name} to {shelf.replica.id}")

    def released(self, shelf: AdapterShelf, name: str) -> None:
        """Called by a use."""
        shelf.release(name, self._clock())

    def _shelf(self, replica: Replica) -> AdapterShelf:
        shelf = self._shelves.get(replica.id)
        if shelf is None:
            shelf = self._shelves[replica.id] = self._new_shelf(replica)
        return shelf

    def _new_shelf(self, replica: Replica) -> AdapterShelf:
        can_load = self._engines[replica.engine].load_adapter("", "") is not None
        return AdapterShelf(replica, self._clock(), can_load=can_load)

    async def _bring(self, shelf: AdapterShelf, name: str) -> None:
        replica, began_s = shelf.replica, self._clock()
        failure: EngineError | None = None
        try:
            async with shelf.changing:
                await self._give(shelf, name)
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
        for then in shelf.waiting.pop(name):
            loop.call_soon(then, failure)

    async def _give(self, shelf: AdapterShelf, name: str) -> None:
        await self._read_list(shelf)
        if shelf.is_stale(name):
            await self._unload(shelf, name)
        elif shelf.has(name):
            return
        while shelf.is_full:
            idle = shelf.idlest()
            if idle is not None:
                await self._unload(shelf, idle)
            else:
                await self._wait_idle(shelf)
        await self._load(shelf, name)

    async def _read_list(self, shelf: AdapterShelf) -> None:
        """An engine that does not tell is believed to hold what it was given."""
        replica = shelf.replica
        engine, at_s = self._engines[replica.engine], self._clock()
        if engine.models_path is None:
            return
        page = await get(
            self._pool,
            _address(replica),
            replica.base_path + engine.models_path,
            timeout_s=LIST_TIMEOUT_S,
            headers=_key(replica),
        )
        if page.status == 200:
            try:
                shelf.take_list(adapters_listed(engine.read_models(page.body)), at_s)
            except EngineGarbage as error:
                _log.warning("adapters_unread", replica=replica.id, error=str(error))

    async def _wait_idle(self, shelf: AdapterShelf) -> None:
        shelf.has_idle.clear()
        try:
            async with deadline(self._room_timeout_s):
                await shelf.has_idle.wait()
        except TimeoutError as error:
            replica = shelf.replica
            metrics.adapter_failures.add((replica.model, replica.pool, "crowded"))
            raise AdapterUnavailable(
                f"The {replica.adapters_max} adapters that a replica of {replica.model!r} may hold at once are in use.",
                retry_after_s=CROWDED_RETRY_AFTER_S,
            ) from error

    async def _unload(self, shelf: AdapterShelf, name: str) -> None:
        replica = shelf.replica
        shelf.went(name, self._clock())  # first: from here on no request may count on it
        call = self._engines[replica.engine].unload_adapter(name)
        assert call is not None, "an engine that loads adapters also unloads them"
        answer = await self._order(replica, call, "unload", name)
        if answer.status == 200:
            metrics.adapter_unloads.add((replica.model, replica.pool))
            _log.info("adapter_unloaded", replica=replica.id, adapter=name)
        elif answer.status not in (400, 404):  # which say that it is gone already
            raise self._refused(replica, "unload", name, answer)

    async def _load(self, shelf: AdapterShelf, name: str) -> None:
        replica = shelf.replica
        source = replica.adapters.get(name)
        call = self._engines[replica.engine].load_adapter(name, source) if source is not None else None
        if call is None:
            raise AdapterUnavailable(f"The adapter {name!r} is no longer declared for this replica.")
        try:
            answer = await self._order(replica, call, "load", name)
            if answer.status != 200:
                await self._read_list(shelf)  # another worker may have been first
                if not shelf.has(name):
                    raise self._refused(replica, "load", name, answer)
        except AdapterUnavailable as error:
            shelf.failed(name, self._clock(), error)
            raise
        shelf.came(name, self._clock())
        metrics.adapter_loads.add((replica.model, replica.pool))
        _log.info("adapter_loaded", replica=replica.id, adapter=name)

    async def _order(self, replica: Replica, call: ControlCall, what: str, name: str) -> Fetched:
        path = replica.base_path + call.path
        try:
            return await post(
                self._pool, _address(replica), path, call.body, timeout_s=self._load_timeout_s, headers=_key(replica)
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

    __slots__ = ("_is_over", "_keeper", "_name", "_shelf")

    def __init__(self, keeper: AdapterKeeper, shelf: AdapterShelf, name: str, now_s: float) -> None:
        self._keeper = keeper
        self._shelf = shelf
        self._name = name
        self._is_over = False
        shelf.claim(name, now_s)

    def when_ready(self, then: Ready) -> None:
        self._keeper.when_ready(self._shelf, self._name, then)

    def end(self) -> None:
        if not self._is_over:
            self._is_over = True
            self._keeper.released(self._shelf, self._name)


def _address(replica: Replica) -> Address:
    return Address(replica.host, replica.port, replica.tls)


def _key(replica: Replica) -> bytes:
    key = os.environ.get(replica.api_key_env, "") if replica.api_key_env else ""
    return f"authorization: Bearer {key}\r\n".encode() if key else b""
