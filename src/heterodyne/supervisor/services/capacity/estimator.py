"""Answers how much room each model has: demand from the books, room from the performance model, what to add from the
planner, which runs in a child."""

import asyncio
import time
from collections.abc import Callable, Sequence

from msgspec import Struct

from heterodyne.config.settings import Settings
from heterodyne.console.capacity.pages import CapacityPage, ForecastPoint, LossCheck, ModelRoom, PoolRoom, Purchase
from heterodyne.console.fleet.pages import FleetPage, ReplicaCondition, ReplicaRow
from heterodyne.domain.errors import HeterodyneError
from heterodyne.domain.history import MINUTE_S, HistoryGroup, HistoryQuery
from heterodyne.planning.hardware.pool_capacity import capacity_of, load_of, worst_loss
from heterodyne.planning.traffic.demand_forecast import DemandForecast, Forecaster
from heterodyne.planning.traffic.request_shape import RequestShape
from heterodyne.ports.books import BookStore
from heterodyne.supervisor.physics_facts import PhysicsFacts, physics_facts
from heterodyne.supervisor.services.cached_value import CachedValue
from heterodyne.supervisor.services.capacity.demand_log import DemandLog
from heterodyne.supervisor.services.capacity.pool_rooms import ModelRooms, model_rooms
from heterodyne.supervisor.services.capacity.purchase import is_enough, purchase_order
from heterodyne.supervisor.services.child_call import call_child

FRESH_S = 10.0
NOW_S = 5 * MINUTE_S  # at least, and a minute more at most, that are "now"
PURCHASE_FRESH_S = 60.0
PURCHASE_DEADLINE_S = 5.0
PURCHASES_DEADLINE_S = 15.0  # of all models in one answer; the rest is shown as still open

_Fleet = tuple[tuple[str, int], ...]  # pools, and how many of their replicas take work


class CapacityEstimator:
    """One per supervisor; belongs to one event loop."""

    def __init__(
        self,
        books: BookStore,
        settings: Callable[[], Settings],
        fleet: Callable[[], FleetPage],
        *,
        child: str,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._books = books
        self._settings = settings
        self._fleet = fleet
        self._child = child  # the module of the process that plans purchases
        self._clock = clock
        self._demand = DemandLog(books)
        self._forecasters: dict[str, tuple[int, Forecaster]] = {}  # by model: up to when it knows, and what
        self._purchases: dict[str, tuple[float, _Fleet, _Purchases]] = {}  # by model: good until, of which fleet, what
        self._page = CachedValue(self._make, for_s=FRESH_S)

    async def capacity(self) -> CapacityPage:
        """At most ten seconds old."""
        return await self._page.get()

    async def _make(self) -> CapacityPage:
        settings, rows, now = self._settings(), self._fleet().replicas, self._clock()
        models = tuple(dict.fromkeys(pool.model for pool in settings.pools.values()))
        await self._demand.refresh(models, now)
        recent = await self._recent(now)
        facts = await asyncio.to_thread(physics_facts, settings.physics)
        self._forecasters = {model: known for model, known in self._forecasters.items() if model in models}
        self._purchases = {model: known for model, known in self._purchases.items() if model in models}
        until_s = time.monotonic() + PURCHASES_DEADLINE_S
        found = []
        for model in models:
            shape = self._demand.shape(model)
            rooms = await asyncio.to_thread(model_rooms, settings, model, rows, shape, facts)
            expected = await self._expect(model, recent.by_model.get(model, 0.0))
            outlook = _ModelOutlook(model=model, rooms=rooms, shape=shape, expected=expected)
            purchases = await self._purchase(outlook, facts, until_s)
            found.append(_model_room(outlook, recent, purchases, [row for row in rows if row.model == model]))
        return CapacityPage(at=now, models=tuple(found))

    async def _recent(self, now: float) -> "_Recent":
        """Of the last minutes, the present one as far as it has come; pools are those that answered."""
        since = (now - NOW_S) // MINUTE_S * MINUTE_S
        history = await self._books.history(
            HistoryQuery(since_at=since, until_at=now, by=(HistoryGroup.MODEL, HistoryGroup.POOL))
        )
        by_model: dict[str, float] = {}
        by_pool: dict[tuple[str, str], float] = {}
        for series in history.series:
            model, pool = series.group[HistoryGroup.MODEL], series.group[HistoryGroup.POOL]
            rate = sum(step.sums.requests for step in series.steps) / (now - since)
            by_model[model] = by_model.get(model, 0.0) + rate
            by_pool[model, pool] = rate
        return _Recent(by_model=by_model, by_pool=by_pool)

    async def _expect(self, model: str, recent: float) -> DemandForecast:
        """Always from the last minutes on; what it knows of the past is worked out when another step has ended."""
        ended_at = self._demand.ended_at
        known = self._forecasters.get(model)
        if known is None or known[0] != ended_at:
            made = await asyncio.to_thread(Forecaster, self._demand.rates(model))
            known = self._forecasters[model] = ended_at, made
        return known[1].ahead(recent, ends_at=ended_at)

    async def _purchase(self, outlook: "_ModelOutlook", facts: PhysicsFacts, until_s: float) -> "_Purchases":
        fleet = tuple((one.measure.pool, one.measure.replicas) for one in outlook.rooms.pools)
        good_until_s, of_fleet, known = self._purchases.get(outlook.model, (0.0, (), _Purchases()))
        if time.monotonic() < good_until_s and of_fleet == fleet:
            return known
        try:
            made = await _plan(self._child, outlook, facts, until_s)
        except HeterodyneError as error:
            made = _Purchases(note=f"The planner has no answer: {error.message}")
        self._purchases[outlook.model] = time.monotonic() + PURCHASE_FRESH_S, fleet, made
        return made


class _Recent(Struct, frozen=True, kw_only=True):
    """Requests per second of the last minutes."""

    by_model: dict[str, float]
    by_pool: dict[tuple[str, str], float]


class _ModelOutlook(Struct, frozen=True, kw_only=True):
    """What is known of one model."""

    model: str
    rooms: ModelRooms
    shape: RequestShape | None  # None: none was answered yet
    expected: DemandForecast


class _Purchases(Struct, frozen=True, kw_only=True):
    purchases: tuple[Purchase, ...] = ()
    note: str = ""


async def _plan(child: str, outlook: _ModelOutlook, facts: PhysicsFacts, until_s: float) -> _Purchases:
    rooms, shape, steps = outlook.rooms, outlook.shape, outlook.expected.steps
    known = [one for one in rooms.pools if one.layout is not None]
    if not known:
        return _Purchases(note="No pool of this model is known to the performance model.")
    if shape is None or not steps:
        return _Purchases(note="Nothing is known of its requests yet.")
    peak = max(step.high for step in steps)
    wanted = f"{peak:.3g} requests/s, the high end of the forecast, with any one replica lost"
    if is_enough(rooms, peak):
        return _Purchases(note=f"What there is carries {wanted}.")
    left_s = min(PURCHASE_DEADLINE_S, until_s - time.monotonic())
    if left_s <= 0:
        return _Purchases(note="The planner had no time for this model; ask again in a minute.")
    usual = RequestShape(prompt_tokens=shape.prompt_tokens, output_tokens=max(1.0, shape.output_tokens))
    order = purchase_order(rooms, known, usual, peak, facts)
    bought = await call_child(child, order, tuple[Purchase, ...], deadline_s=left_s)
    return _Purchases(purchases=bought, note=f"For {wanted}; within {rooms.slo_text}.")


def _model_room(
    outlook: _ModelOutlook, recent: _Recent, purchases: _Purchases, rows: Sequence[ReplicaRow]
) -> ModelRoom:
    """Load is counted on the pools whose room is known, and what others answered is left out of it."""
    model, rooms, shape, expected = outlook.model, outlook.rooms, outlook.shape, outlook.expected
    measures = [one.measure for one in rooms.pools]
    room = capacity_of(measures)
    demand = recent.by_model.get(model, 0.0)
    elsewhere = sum(
        recent.by_pool.get((model, one.pool), 0.0) for one in measures if one.replica_requests_per_s is None
    )
    return ModelRoom(
        model=model,
        requests_per_s=demand,
        prompt_tokens_mean=0.0 if shape is None else shape.prompt_tokens,
        completion_tokens_mean=0.0 if shape is None else shape.output_tokens,
        load=load_of(demand - elsewhere, room),
        headroom_requests_per_s=None if room is None else room - (demand - elsewhere),
        pools=tuple(_pool_rooms(model, rooms, recent)),
        forecast=tuple(
            ForecastPoint(at=one.at, requests_per_s=one.requests_per_s, low=one.low, high=one.high)
            for one in expected.steps
        ),
        forecast_basis=expected.basis,
        is_forecast_credible=expected.is_credible,
        full_at=_full_at(expected, room),
        loss=_loss(rooms, demand - elsewhere, rows),
        purchase=purchases.purchases,
        purchase_note=purchases.note,
    )


def _pool_rooms(model: str, rooms: ModelRooms, recent: _Recent) -> list[PoolRoom]:
    found = []
    for one in rooms.pools:
        measure = one.measure
        room = capacity_of([measure])
        found.append(
            PoolRoom(
                pool=measure.pool,
                hardware=one.settings.hardware,
                tp=one.settings.tp,
                replicas=measure.replicas,
                load=load_of(recent.by_pool.get((model, measure.pool), 0.0), room),
                requests_per_s_max=room,
                basis=one.basis,
            )
        )
    return found


def _full_at(expected: DemandForecast, room: float | None) -> int | None:
    if room is None:
        return None
    return next((step.at for step in expected.steps if step.requests_per_s >= room), None)


def _loss(rooms: ModelRooms, demand: float, rows: Sequence[ReplicaRow]) -> LossCheck | None:
    loss = worst_loss([one.measure for one in rooms.pools], demand)
    if loss is None:
        return None
    replica = next(row.id for row in rows if row.pool == loss.pool and row.state is ReplicaCondition.READY)
    return LossCheck(replica=replica, pool=loss.pool, load_after=loss.load_after, is_enough=loss.is_enough)
