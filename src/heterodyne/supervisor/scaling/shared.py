"""The autoscaler's part in several gateways over one fleet: what the others see, who acts, and what all hold to.

Every gateway looks and decides by the demand of all, so that any of them can go on at once. Only the one that leads
carries anything out, and nobody does while that one cannot know what the others see: with a quarter of the demand in
view it would take away what the rest need. What has come meanwhile is in sums that only grow, and counts later.
"""

import time
from collections.abc import Callable, Iterable
from math import inf

from heterodyne.domain.fleet import PoolName, ReplicaId
from heterodyne.fleet.local_driver import LocalDriver
from heterodyne.supervisor.fleet.driven_fleet import DrivenFleet
from heterodyne.supervisor.gateways.gateway_report import GatewayReport, ModelDemand, Pause
from heterodyne.supervisor.gateways.gateway_watch import GatewayWatch
from heterodyne.supervisor.scaling.memory import ScalingMemory
from heterodyne.supervisor.scaling.observer import demands_of, in_flight_of
from heterodyne.supervisor.scaling.scaled_fleet import ScaledFleet

Fence = Callable[[], int | None]


class SharedScaling:
    """One per supervisor. Replicas of this machine are this gateway's own: of those it asks nobody."""

    def __init__(
        self,
        fleet: ScaledFleet,
        memory: ScalingMemory,
        *,
        name: str = "",
        fence: Fence = lambda: 1,
        watch: GatewayWatch | None = None,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        """`fence` has the number of this gateway's leadership, None while it does not lead. Without a `watch` it hears
        of no other gateway."""
        self._fleet = fleet
        self._memory = memory
        self._name = name
        self._fence = fence
        self._watch = watch
        self._wall_clock = wall_clock
        self._follows = True  # until it leads
        fleet.driven.others = self
        if watch is not None:
            watch.compose = self.report

    def is_shared(self, pools: Iterable[PoolName]) -> bool:
        """Whether other gateways may start and end replicas of these, too."""
        return any(self._fleet.driven.driver_of(pool) != LocalDriver.name for pool in pools)

    def unknown(self) -> str:
        """Why it cannot be said what other gateways see; empty: it can."""
        apart_s = 0.0 if self._watch is None else self._watch.apart_s()
        if not apart_s:
            return ""
        since = "at all yet" if apart_s == inf else f"for {apart_s:.0f} s"
        return f"what other gateways see is not known: the Redis of stores.fleet_url has not answered {since}"

    def why_idle(self) -> str:
        """Why nothing of what gateways share is carried out here; empty: it is."""
        if unknown := self.unknown():
            return unknown
        if self._fence() is not None:
            return ""
        leader = self._leader()
        if leader is None:
            return "no gateway leads: it takes the database of stores.url to say which"
        return f"{leader.gateway} leads, and acts for all gateways"

    def why_kept(self) -> str:
        """Why no replica is drained; empty: they may be."""
        missed = () if self._watch is None else self._watch.missed()
        return f"{', '.join(missed)} has not been heard of, and may serve" if missed else ""

    def leader(self) -> str | None:
        """Which gateway acts, as far as that is known."""
        if self._fence() is not None:
            return self._name
        leader = self._leader()
        return None if leader is None else leader.gateway

    def demand(self, model: str) -> dict[str, ModelDemand]:
        """By gateway and worker, what the others have seen of one model."""
        return {
            f"{sender} {worker}": models[model]
            for sender, report in self._heard().items()
            for worker, models in report.workers.items()
            if model in models
        }

    def in_flight(self) -> dict[ReplicaId, int]:
        """That the others have on each replica."""
        sums: dict[ReplicaId, int] = {}
        for report in self._heard().values():
            for id, count in report.in_flight.items():
                sums[id] = sums.get(id, 0) + count
        return sums

    def held_models(self) -> set[str]:
        """Models that requests are held for elsewhere."""
        reports = self._heard().values()
        workers = [models for report in reports for models in report.workers.values()]
        return {model for models in workers for model, one in models.items() if one.seen.held}

    def follow(self, drain_timeout_s: float) -> None:
        """Hold to what the leader has said, or take up what it left."""
        driven = self._fleet.driven
        for report in self._heard().values():
            self._memory.take_pauses(report.pauses)
        shared = self._given_up(driven)
        if not self.why_idle():
            if self._follows and shared:
                driven.give_up(tuple(shared), drain_timeout_s)
            self._follows = False
            return
        self._follows = True
        driven.forget_asked()
        leader = self._leader()
        leaving = frozenset() if leader is None else frozenset(leader.leaving)
        if more := leaving - shared:
            driven.give_up(tuple(more), inf)
        if back := shared - leaving:
            driven.keep(tuple(back))
        if leader is not None:
            self._fleet.take_told(leader.told)

    def may_end(self, driver: str) -> bool:
        """Whether a replica of this driver may be ended from here now."""
        return driver == LocalDriver.name or not self.why_idle()

    def is_left(self, driver: str, replica: ReplicaId) -> bool:
        """Whether no other gateway has anything on it, and none will."""
        if driver == LocalDriver.name:
            return True
        return not self.why_kept() and all(replica in report.left for report in self._heard().values())

    def report(self) -> GatewayReport:
        """What the others are told of this gateway."""
        driven, views = self._fleet.driven, self._fleet.views()
        term = self._fence()
        shared = self._given_up(driven)
        models = {model for view in views for model in view.demand}
        workers: dict[str, dict[str, ModelDemand]] = {}
        for model in models:
            for worker, one in demands_of(model, views).items():
                workers.setdefault(worker, {})[model] = one
        return GatewayReport(
            gateway=self._name,
            term=term,
            workers=workers,
            in_flight=in_flight_of(views),
            leaving=tuple(shared) if term is not None else (),
            left=tuple(shared & driven.emptied),
            told={} if term is None else {name: pool.wanted for name, pool in driven.pools().items()},
            pauses=self._memory.pauses,
        )

    def pause(self, models: Iterable[str], *, is_paused: bool) -> None:
        """An operator's word, which the other gateways hear of."""
        now_s, known = self._wall_clock(), self._memory.pauses
        for model in models:
            # Later than any word before, whatever the clocks of other machines say.
            at_s = max(now_s, known[model].at_s + 1.0) if model in known else now_s
            self._memory.take_pauses({model: Pause(is_paused=is_paused, at_s=at_s)})

    def _given_up(self, driven: DrivenFleet) -> frozenset[ReplicaId]:
        """Replicas that gateways share."""
        return frozenset(id for id in driven.given_up() if driven.driver_of_replica(id) != LocalDriver.name)

    def _heard(self) -> dict[str, GatewayReport]:
        return {} if self._watch is None else self._watch.heard()

    def _leader(self) -> GatewayReport | None:
        """The other gateway that leads; of two that say so, the later."""
        leaders = [one for one in self._heard().values() if one.term is not None]
        return max(leaders, key=lambda one: one.term or 0, default=None)
