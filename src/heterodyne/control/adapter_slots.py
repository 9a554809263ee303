"""The LoRA adapters one replica holds, as far as this worker knows. It waits for nothing: times come in."""

import asyncio
from collections import Counter
from collections.abc import Sequence

from heterodyne.domain.adapter import Nearness
from heterodyne.domain.errors import EngineError
from heterodyne.domain.fleet import Replica
from heterodyne.ports.adapters import Ready

FAILURE_PAUSE_S = 5.0  # before a load that failed is tried again


class AdapterSlots:
    """Owned by the keeper, which does what has to be waited for."""

    def __init__(self, replica: Replica, now_s: float, *, can_load: bool) -> None:
        self.replica = replica
        self.waiting: dict[str, list[Ready]] = {}  # requests for adapters that are being loaded
        self.changing = asyncio.Lock()  # one adapter comes or goes at a time
        self.has_idle = asyncio.Event()  # a request has stopped using one
        self._can_load = can_load  # False: it has what it was started with
        self._used_at_s: dict[str, float] = {}  # of those it holds
        self._uses: Counter[str] = Counter()
        self._changed_at_s: dict[str, float] = {}  # when we last knew better than a list
        self._forgotten_at_s = now_s
        self._listed_at_s: float | None = None
        self._failures: dict[str, tuple[float, EngineError]] = {}
        self._stale: set[str] = set()  # held, but from a source that the settings no longer name

    @property
    def held(self) -> tuple[str, ...]:
        """Those it was given, and may lose again; the one used longest ago first."""
        return tuple(sorted(self._used_at_s, key=self._used_at_s.__getitem__))

    @property
    def is_full(self) -> bool:
        return len(self._used_at_s) >= self.replica.adapters_max

    def has(self, name: str) -> bool:
        """Whether a request for it may be sent now."""
        return not self._can_load or name in self._used_at_s or self.replica.adapters.get(name) is None

    def is_stale(self, name: str) -> bool:
        """Whether it is held from another source than the settings name now."""
        return name in self._stale

    def uses(self, name: str) -> int:
        """Requests of this worker that count on it or wait for it."""
        return self._uses[name]

    @property
    def claims(self) -> int:
        """All uses of all its adapters."""
        return self._uses.total()

    def nearness(self, name: str, now_s: float) -> Nearness:
        if name in self.waiting:
            return Nearness.COMING
        if self.has(name):
            return Nearness.HELD
        load = self.replica.load
        if load is not None and name in load.adapters:
            return Nearness.COMING
        if self.failure(name, now_s) is not None:
            return Nearness.BARRED
        if len(self._used_at_s) + len(self.waiting) < self.replica.adapters_max:
            return Nearness.ROOM
        return Nearness.FULL if self.idlest() is not None else Nearness.CROWDED

    def failure(self, name: str, now_s: float) -> EngineError | None:
        """Why it could not be loaded a moment ago."""
        until_s, error = self._failures.get(name, (now_s, None))
        return error if now_s < until_s else None

    def idlest(self) -> str | None:
        """The one to unload: no request here uses it; the engine seems not to either; used longest ago."""
        load = self.replica.load
        busy = load.adapters if load is not None else ()
        idle = [name for name in self.held if not self._uses[name]]
        return min(idle, key=lambda name: name in busy, default=None)

    def claim(self, name: str, now_s: float) -> None:
        """A request wants it."""
        self._uses[name] += 1
        if name in self._used_at_s:
            self._used_at_s[name] = now_s

    def release(self, name: str, now_s: float) -> None:
        """It no longer does."""
        self._uses[name] -= 1
        if not self._uses[name]:
            del self._uses[name]
            self.has_idle.set()
        if name in self._used_at_s:
            self._used_at_s[name] = now_s

    def came(self, name: str, now_s: float) -> None:
        """It has been loaded."""
        self._used_at_s[name] = self._changed_at_s[name] = now_s
        self._failures.pop(name, None)
        self._stale.discard(name)

    def failed(self, name: str, now_s: float, error: EngineError) -> None:
        """It could not be."""
        self._failures[name] = (now_s + FAILURE_PAUSE_S, error)

    def went(self, name: str, now_s: float) -> bool:
        """It is there no more; whether it was thought to be."""
        self._changed_at_s[name] = now_s
        self._stale.discard(name)
        return self._used_at_s.pop(name, None) is not None

    def forget(self, now_s: float) -> None:
        """The engine began anew and holds nothing."""
        self._used_at_s.clear()
        self._changed_at_s.clear()
        self._failures.clear()
        self._stale.clear()
        self._forgotten_at_s = now_s

    def know(self, replica: Replica, now_s: float) -> None:
        """A newer word of the settings and of the engine about the same replica."""
        before, self.replica = self.replica.adapters, replica
        if replica.adapters is not before:
            for name in self.held:
                if name not in replica.adapters:
                    self.went(name, now_s)
                elif replica.adapters[name] != before.get(name):
                    self._stale.add(name)
        if replica.adapters_listed_at_s is not None and replica.adapters_listed_at_s != self._listed_at_s:
            self._listed_at_s = replica.adapters_listed_at_s
            self.take_list(replica.adapters_listed, replica.adapters_listed_at_s)

    def take_list(self, names: Sequence[str], at_s: float) -> None:
        """What the engine listed then; of what has changed since we know better."""
        for name, source in self.replica.adapters.items():
            if source is None or self._changed_at_s.get(name, self._forgotten_at_s) > at_s:
                continue
            if name not in names:
                self._used_at_s.pop(name, None)
            else:
                self._used_at_s.setdefault(name, at_s)
