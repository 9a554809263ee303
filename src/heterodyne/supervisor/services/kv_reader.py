"""Puts together what workers, and the gateways that share the fleet, say of KV."""

import time
from collections.abc import Callable, Sequence

from heterodyne.config.settings import Settings
from heterodyne.console.fleet.pages import FleetPage
from heterodyne.console.kv.joined import joined, told
from heterodyne.console.kv.pages import KvPage
from heterodyne.console.kv.rows import kv_page
from heterodyne.domain.fleet import Replica
from heterodyne.domain.kv_seen import KvSeen
from heterodyne.domain.routing_rule import KvStrategy
from heterodyne.supervisor.workers.view import WorkerView


class KvReader:
    """One per supervisor. It asks nobody: workers have left what it reads."""

    def __init__(
        self,
        *,
        views: Callable[[], Sequence[WorkerView]],
        replicas: Callable[[], Sequence[Replica]],
        fleet: Callable[[], FleetPage],
        settings: Callable[[], Settings],
        elsewhere: Callable[[], Sequence[KvSeen]],
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        """`elsewhere` is what other gateways say."""
        self._views = views
        self._replicas = replicas
        self._fleet = fleet
        self._settings = settings
        self._elsewhere = elsewhere
        self._wall_clock = wall_clock

    def page(self) -> KvPage:
        """As it is now."""
        settings, replicas = self._settings(), self._replicas()
        reports = [*_seen(self._views()), *self._elsewhere()]
        loads = {row.id: row.load for row in self._fleet().replicas}
        models = {replica.model for replica in replicas}
        return kv_page(
            joined(reports) if reports else None,
            replicas=replicas,
            engine_shares={
                id: load.kv_share for id, load in loads.items() if load is not None and load.kv_share is not None
            },
            strategies={model: _strategy(settings, model) for model in models},
            stores=settings.kv_stores,
            gateways=1 + len(self._elsewhere()),
            at=self._wall_clock(),
        )


def try_report(views: Sequence[WorkerView]) -> KvSeen | None:
    """What this gateway tells the others; None: nothing is looked at."""
    reports = _seen(views)
    return told(joined(reports)) if reports else None


def _seen(views: Sequence[WorkerView]) -> list[KvSeen]:
    return [view.kv for view in views if view.kv is not None]


def _strategy(settings: Settings, model: str) -> KvStrategy:
    one = settings.models.get(model)
    return KvStrategy.PREFIX if one is None else KvStrategy(one.kv)
