"""One look at one replica: its health, its model list when that is due, its load. What it means is for others."""

from collections.abc import Callable

from msgspec import Struct

from heterodyne.control.engine_fetch import get
from heterodyne.domain.engine_load import EngineLoad, ServedModel
from heterodyne.domain.errors import EngineError, EngineGarbage, EngineRefused
from heterodyne.domain.fleet import Replica
from heterodyne.engines.header_lines import header_lines
from heterodyne.engines.replica_address import replica_address
from heterodyne.ports.engine_control import EngineControl
from heterodyne.wire.address import Address
from heterodyne.wire.connection_pool import ConnectionPool
from heterodyne.wire.fetch import Fetched

TIMEOUT_S = 2.0  # of each page
NOT_THERE = (404, 501)

Clock = Callable[[], float]


class ProbeResult(Struct, frozen=True, kw_only=True):
    """What was seen. An error is in words; without one, None means: not asked for, or not shown by the engine."""

    at_s: float  # when its health was known
    took_s: float  # for its health
    is_ready: bool
    error: str | None = None  # why it is not ready
    models: tuple[ServedModel, ...] | None = None
    models_error: str | None = None
    load: EngineLoad | None = None
    load_at_s: float | None = None  # when its pages were asked for: what they say is not newer than that
    load_error: str | None = None
    has_fallback: bool = False  # its usual load pages are not there


class Prober:
    """Looks at one replica over one connection a look: an engine that takes no new ones is not ready."""

    __slots__ = ("_address", "_base_path", "_clock", "_engine", "_headers", "_load_address", "_pool")

    def __init__(self, replica: Replica, engine: EngineControl, pool: ConnectionPool, clock: Clock) -> None:
        self._engine = engine
        self._pool = pool
        self._clock = clock
        self._address = replica_address(replica)
        self._base_path = replica.base_path
        self._load_address = self._address if engine.load_port is None else replica_address(replica, engine.load_port)
        self._headers = header_lines(replica, engine)

    @property
    def addresses(self) -> tuple[Address, ...]:
        """Everywhere it looks."""
        return self._address, self._load_address

    async def probe(self, *, wants_models: bool, has_fallback: bool) -> ProbeResult:
        """Never raises for what the engine does; only a healthy replica is asked for the rest."""
        engine = self._engine
        began_s = self._clock()
        try:
            health = await self._get(engine.health_path)
        except EngineError as error:
            now_s = self._clock()
            return ProbeResult(at_s=now_s, took_s=now_s - began_s, is_ready=False, error=str(error))
        at_s = self._clock()
        if not engine.is_ready(health.status, health.body):
            message = f"It answers {health.status} to {engine.health_path}."
            return ProbeResult(at_s=at_s, took_s=at_s - began_s, is_ready=False, error=message)
        models, models_error = await self._models(health) if wants_models else (None, None)
        load_at_s = self._clock()
        load, load_error, has_fallback = await self._load(has_fallback=has_fallback)
        return ProbeResult(
            at_s=at_s,
            took_s=at_s - began_s,
            is_ready=True,
            models=models,
            models_error=models_error,
            load=load,
            load_at_s=load_at_s if load is not None else None,
            load_error=load_error,
            has_fallback=has_fallback,
        )

    async def _models(self, health: Fetched) -> tuple[tuple[ServedModel, ...] | None, str | None]:
        engine = self._engine
        if engine.models_path is None:
            return None, None
        try:
            # Where the list is the health page, it has just been read.
            page = health if engine.models_path == engine.health_path else await self._get(engine.models_path)
            return engine.read_models(_whole(page, engine.models_path)), None
        except EngineError as error:
            return None, str(error)

    async def _load(self, *, has_fallback: bool) -> tuple[EngineLoad | None, str | None, bool]:
        engine = self._engine
        if not engine.load_paths:
            return None, None, False
        paths = engine.fallback_load_paths if has_fallback else engine.load_paths
        try:
            return engine.read_load([_whole(await self._get_load(path), path) for path in paths]), None, has_fallback
        except EngineRefused as error:
            if error.status in NOT_THERE and engine.fallback_load_paths and not has_fallback:
                return await self._load(has_fallback=True)
            # Next time the usual pages are tried again: the engine may have been started anew, with them.
            return None, str(error), False
        except EngineError as error:
            return None, str(error), has_fallback

    async def _get(self, path: str) -> Fetched:
        return await get(
            self._pool,
            self._address,
            self._base_path + path,
            timeout_s=TIMEOUT_S,
            headers=self._headers,
            keeps_alive=True,
        )

    async def _get_load(self, path: str) -> Fetched:
        if self._load_address == self._address:
            return await self._get(path)
        # A port of its own is a bare metrics server's: no path stands in front, no key is asked for.
        return await get(self._pool, self._load_address, path, timeout_s=TIMEOUT_S, keeps_alive=True)


def _whole(page: Fetched, path: str) -> bytes:
    if page.status != 200:
        raise EngineRefused(f"It answers {page.status} to {path}.", status=page.status)
    if not page.body:
        raise EngineGarbage(f"{path} is empty.")
    return page.body
