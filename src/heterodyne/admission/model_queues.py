"""Pure: the fair queues of one worker, one for each model that was ever full, and what a request would find in them."""

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from math import ceil, inf
from typing import Final

from heterodyne.admission.in_time import Outlook, check_in_time
from heterodyne.admission.pending_request import PendingRequest
from heterodyne.admission.queue.dlpm import Dlpm
from heterodyne.admission.queue.fair_queue import FairQueue
from heterodyne.admission.queue.order import QueueOrder
from heterodyne.admission.queue.snapshot import QueueSnapshot
from heterodyne.admission.queue.vtc import Vtc
from heterodyne.admission.queue.waiting import Waiting
from heterodyne.admission.settings import AdmissionSettings
from heterodyne.admission.shedding import check_shed, saturation
from heterodyne.domain.fleet import FleetSnapshot, Replica
from heterodyne.domain.urgency import Tier
from heterodyne.routing.router import Router
from heterodyne.routing.routing_choice import Forecast, RoutingChoice
from heterodyne.routing.routing_request import RoutingRequest

SERVICE_MIN_S: Final = 1e-6
RETRY_AFTER_MAX_S: Final = 60
# Beside one tenant of each of the other tiers that asks for everything, gold has three quarters.
TIER_WEIGHTS: Final = {Tier.GOLD: 16.0, Tier.SILVER: 4.0, Tier.BRONZE: 1.0}
QUANTUM_S: Final = 2.0  # of a replica's time: some ten prompts that no replica has in memory
ORDERS: Final[dict[str, Callable[[], QueueOrder]]] = {"fair": Vtc, "prefix": partial(Dlpm, quantum=QUANTUM_S)}


class ModelQueues:
    """One per worker or simulation."""

    def __init__(self, router: Router, settings: AdmissionSettings, *, chance: Callable[[], float]) -> None:
        self._router = router
        self._settings = settings
        self._chance = chance
        self._queues: dict[str, FairQueue] = {}
        self._scouts: dict[str, tuple[Replica, ...]] = {}  # by model, one of each pool
        self._scouts_of: FleetSnapshot | None = None

    def __len__(self) -> int:
        """Requests that wait, for any model."""
        return sum(len(queue) for queue in self._queues.values())

    def __contains__(self, model: str) -> bool:
        """Whether the model was ever full."""
        return model in self._queues

    def __iter__(self) -> Iterator[tuple[str, FairQueue]]:
        return iter(tuple(self._queues.items()))

    def try_queue(self, model: str) -> FairQueue | None:
        """None: it never was."""
        return self._queues.get(model)

    def configure(self, settings: AdmissionSettings) -> None:
        """Other bounds from the next request on."""
        self._settings = settings
        for model, queue in self._queues.items():
            self._resize(model, queue)

    def queue(self, model: str, fleet: FleetSnapshot) -> FairQueue:
        """The model's, made where there is none."""
        known = self._queues.get(model)
        if known is not None:
            return known
        settings = self._settings
        queue = self._queues[model] = FairQueue(
            model,
            queue_max=settings.queue_max,
            tenant_queue_max=settings.tenant_queue_max,
            order=ORDERS[settings.queue_order],
            kv_share_max=settings.kv_share_max,
            drain_per_s_prior=max(1.0, len(fleet.by_model.get(model, ()))),
        )
        self._resize(model, queue)
        return queue

    def waiting_of(self, pending: PendingRequest, forecast: Forecast | None) -> Waiting:
        """The request as its queue sees it."""
        routing_request, caller = pending.routing_request, pending.hold.caller
        promised_s = inf if pending.is_held else pending.arrived_s + routing_request.ttft_slo_s
        least_s = 0.0 if forecast is None else max(0.0, forecast.ttft_s - forecast.wait_s)
        share_s = 0.0 if forecast is None else forecast.share_s
        is_prefix = self._settings.queue_order == "prefix" and bool(routing_request.chain.hashes)
        return Waiting(
            tenant=caller.project,
            tier=caller.tier,
            urgency=routing_request.urgency,
            weight=caller.weight * TIER_WEIGHTS[caller.tier],
            service=max(SERVICE_MIN_S, share_s),
            arrived_s=pending.arrived_s,
            deadline_s=min(pending.request.deadline_s, promised_s),
            least_s=least_s,
            kv_tokens=routing_request.prompt_tokens + routing_request.output_tokens,
            cached_tokens=partial(self._router.cached_tokens, routing_request) if is_prefix else None,
            handle=pending,
        )

    def try_forecast(self, routing_request: RoutingRequest, fleet: FleetSnapshot, now_s: float) -> Forecast | None:
        """What it would take on the quickest kind of replica, full or not; None: there is none.

        The same kind for all that wait, or their service could not be compared: the replica with room may be of any.
        """
        if self._scouts_of is not fleet:
            self._scouts_of, self._scouts = fleet, {}
        scouts = self._scouts.get(routing_request.model)
        if scouts is None:
            by_pool = {one.pool: one for one in fleet.by_model.get(routing_request.model, ()) if one.is_takeable}
            scouts = self._scouts[routing_request.model] = tuple(by_pool.values())
        forecasts = self._router.compare(routing_request, scouts, now_s)
        return min(forecasts, key=lambda one: one.ttft_s - one.wait_s, default=None)

    def pace(self, pending: PendingRequest, fleet: FleetSnapshot, now_s: float) -> float:
        """What a second of the replica where it goes would be on the kind that service is counted on.

        A tenant gains nothing by being sent to a slow one, and must not pay for it with later turns.
        """
        assert pending.choice is not None
        routing_request, state = pending.routing_request, pending.choice.forecast.state
        counted = self.try_forecast(routing_request, fleet, now_s)
        if counted is None or counted.state.speed is state.speed:
            return 1.0
        tokens = routing_request.prompt_tokens, 0, round(routing_request.output_tokens)
        return counted.state.speed.share_s(*tokens) / max(SERVICE_MIN_S, state.speed.share_s(*tokens))

    def check(
        self, pending: PendingRequest, forecast: Forecast | None, queue: FairQueue, waiting: Waiting, now_s: float
    ) -> None:
        """Raise where waiting would be in vain, or the tier gives way."""
        routing_request, caller = pending.routing_request, pending.hold.caller
        place = queue.place(waiting, now_s)
        # A request that comes here found no room, or others before it: to it the fleet is full, whatever slots are
        # free. The queue is as full as its places are taken, or as its wait is long beside the SLO; less so to a tenant
        # with less in it than others, for one that floods must not have the rest of its tier refused. Nor is anybody
        # refused in favour of batch work, which makes room as it ends.
        wait_share = queue.wait_s(routing_request.urgency, now_s) / routing_request.ttft_slo_s
        fill = place.part * max(queue.fill(routing_request.urgency), wait_share)
        check_shed(
            caller.tier,
            routing_request.urgency,
            saturation=saturation(load=1.0 - _patient_share(pending.choice), queue_fill=fill),
            chance=self._chance(),
            retry_after_s=min(RETRY_AFTER_MAX_S, max(1, ceil(place.wait_s))),
        )
        if forecast is not None:
            ttft_s = max(0.0, forecast.ttft_s - forecast.wait_s)
            tokens = routing_request.output_tokens / routing_request.sequences if pending.request.stream else 0.0
            check_in_time(
                [Outlook(wait_s=place.wait_s, ttft_s=ttft_s, total_s=ttft_s + tokens * forecast.itl_s)],
                arrived_s=pending.arrived_s,
                now_s=now_s,
                deadline_s=pending.request.deadline_s,
                ttft_slo_s=routing_request.ttft_slo_s,
            )

    def snapshots(self, now_s: float) -> list[QueueSnapshot]:
        """Every model's queue."""
        return [queue.snapshot(now_s) for queue in self._queues.values()]

    def waiting_by_project(self, most: int) -> dict[str, int]:
        """How many of each project wait, for any model, of the projects with the most."""
        counts = Counter(waiting.tenant for queue in self._queues.values() for waiting in queue.all_waiting())
        return dict(counts.most_common(most))

    def depths(self) -> dict[str, int]:
        """How many wait for each model."""
        return {model: len(queue) for model, queue in self._queues.items() if len(queue)}

    def pending(self) -> list[PendingRequest]:
        """All that wait."""
        return [pending_of(waiting) for queue in self._queues.values() for waiting in queue.all_waiting()]

    def _resize(self, model: str, queue: FairQueue) -> None:
        settings = self._settings
        queue.resize(
            queue_max=settings.queue_max,
            tenant_queue_max=settings.tenant_queue_max,
            kv_tokens=self._router.kv_tokens(model),
        )


def _patient_share(choice: RoutingChoice | None) -> float:
    """Of the requests on the replica that would be the next, those of batch and background work."""
    if choice is None or not choice.forecast.state.patient:
        return 0.0
    state = choice.forecast.state
    return state.patient / state.in_flight


def pending_of(waiting: Waiting) -> PendingRequest:
    """The request that a queue knows as `waiting`."""
    assert isinstance(waiting.handle, PendingRequest)
    return waiting.handle
