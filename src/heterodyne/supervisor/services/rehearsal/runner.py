"""Rehearsals for the console: requests from the books, pools from the fleet, the simulator in a child process."""

import time
from collections import Counter
from collections.abc import Callable, Iterator

from heterodyne.config.served_models import own_pools
from heterodyne.config.settings import Settings
from heterodyne.console.errors import CannotPlan
from heterodyne.console.fleet.pages import FleetPage, ReplicaCondition
from heterodyne.console.rehearsal.pages import RehearsalPage, RehearsalRequest
from heterodyne.domain.errors import InvalidField, InvalidSpec
from heterodyne.domain.nearest import unknown_name
from heterodyne.fleet.model_settings import ModelSettings
from heterodyne.ports.books import BookStore
from heterodyne.routing.catalogue import check_policy
from heterodyne.supervisor.services.bulkhead import Bulkhead
from heterodyne.supervisor.services.child_call import call_child
from heterodyne.supervisor.services.recorded_arrivals import RecordedArrivals, recorded_arrivals
from heterodyne.supervisor.services.rehearsal.order import RehearsalOrder, RehearsalResult, simulated_pool

DEADLINE_S = 60.0
SPAN_S = 3600.0  # when no span is asked for
GONE = (ReplicaCondition.LEAVING,)


class RehearsalRunner:
    """One per supervisor, one rehearsal at a time; belongs to one event loop."""

    def __init__(
        self,
        books: BookStore,
        settings: Callable[[], Settings],
        fleet: Callable[[], FleetPage],
        *,
        child: str,
        clock: Callable[[], float] = time.time,
        deadline_s: float = DEADLINE_S,
    ) -> None:
        self._books = books
        self._settings = settings
        self._fleet = fleet
        self._clock = clock
        self._child = child  # the module of the process that simulates
        self._deadline_s = deadline_s
        self._bulkhead = Bulkhead(1, "rehearsals")

    async def rehearse(self, asked: RehearsalRequest) -> RehearsalPage:
        """The same requests under each policy, the fleet being whole: none is down and none is drained."""
        with self._bulkhead.slot():
            settings = self._settings()
            _check(asked, settings)
            until_at = self._clock() if asked.until_at is None else asked.until_at
            since_at = until_at - SPAN_S if asked.since_at is None else asked.since_at
            if not since_at < until_at:
                raise InvalidField("since_at, until_at: a span of time that begins before it ends.", param="since_at")
            recorded = await recorded_arrivals(
                self._books, asked.model, asked.requests_max, since_at=since_at, until_at=until_at
            )
            if not recorded.arrivals:
                raise CannotPlan(
                    f'No request for "{asked.model}" with an answer is recorded in the span; take another.'
                )
            order, left_out = self._order(asked, settings, recorded)
            if not order.pools:
                raise CannotPlan(
                    f'No pool of "{asked.model}" can be rehearsed: {"; ".join(left_out)}. Name their `hardware`.'
                )
            try:
                done = await call_child(self._child, order, RehearsalResult, deadline_s=self._deadline_s)
            except InvalidSpec as error:
                raise CannotPlan(error.message) from error
        return RehearsalPage(
            model=asked.model,
            requests=len(recorded.arrivals),
            since_at=recorded.arrivals[0].at_s,
            until_at=recorded.arrivals[-1].at_s,
            rows=done.rows,
            left_out=(*left_out, *done.left_out),
            notes=tuple(_notes(recorded, done)),
        )

    def _order(
        self, asked: RehearsalRequest, settings: Settings, recorded: RecordedArrivals
    ) -> tuple[RehearsalOrder, tuple[str, ...]]:
        replicas = Counter(row.pool for row in self._fleet().replicas if row.state not in GONE)
        pools, left_out = {}, []
        for name, pool in own_pools(settings, asked.model).items():
            if pool.hardware is None:
                left_out.append(f"{name}: it names no hardware")
            elif not replicas[name]:
                left_out.append(f"{name}: it has no replica")
            else:
                pools[name] = simulated_pool(pool, replicas[name])
        order = RehearsalOrder(
            model=asked.model,
            pools=pools,
            arrivals=recorded.arrivals,
            policies=tuple(dict.fromkeys(asked.policies)),
            own_policy=settings.models.get(asked.model, ModelSettings()).policy,
            slo_ttft_s=asked.slo_ttft_ms / 1000,
            slo_itl_s=asked.slo_itl_ms / 1000,
            hardware=settings.physics.hardware,
            profiles=settings.physics.profiles,
        )
        return order, tuple(left_out)


def _check(asked: RehearsalRequest, settings: Settings) -> None:
    models = list(dict.fromkeys(pool.model for pool in settings.pools.values()))
    if asked.model not in models:
        raise unknown_name("model", asked.model[:200], models)
    for policy in asked.policies:
        check_policy(policy[:200])


def _notes(recorded: RecordedArrivals, done: RehearsalResult) -> Iterator[str]:
    yield "Which prompts began alike is not recorded: nothing is found in a cache, under any policy."
    yield "Every replica of the fleet is up all the time, and priced from the first arrival to the last answer."
    yield "Limits, tiers, queues, retries and deadlines are left out: every request is sent to a replica at once."
    if recorded.without_lengths:
        yield f"{recorded.without_lengths} requests that were refused or have no answer are left out."
    if done.refused:
        yield f"{done.refused} requests are too long for every pool that took part."
    yield f"Speeds rest on: {', '.join(done.speeds)}."
