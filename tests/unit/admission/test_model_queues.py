"""Who is refused while others wait for the model."""

from math import inf

import pytest
from msgspec import structs

from heterodyne.admission.callers import LOCAL
from heterodyne.admission.hold import Hold
from heterodyne.admission.model_queues import ModelQueues
from heterodyne.admission.pending_request import PendingRequest
from heterodyne.admission.settings import AdmissionSettings
from heterodyne.domain.errors import Shed
from heterodyne.domain.fleet import FleetSnapshot, ReplicaId
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.domain.urgency import Tier, Urgency
from heterodyne.routing.router import Router
from tests.support.replica_states import ROUND, even, replica, routing_request

FLEET = FleetSnapshot.of(1, (replica("r0"),))
BRONZE = structs.replace(LOCAL, tier=Tier.BRONZE)


def test_nobody_is_refused_in_favour_of_batch_work() -> None:
    _come(Urgency.BATCH)
    with pytest.raises(Shed):
        _come(Urgency.INTERACTIVE)


def _come(crowd: Urgency) -> None:
    """An interactive request comes to a replica with ten of a class, while a third of the queue is taken."""
    router = Router(FLEET, prior_of=lambda _: ROUND, chance=even, now_s=0.0)
    queues = ModelQueues(router, AdmissionSettings(queue_max=6), chance=lambda: 0.01)
    queue = queues.queue("m", FLEET)
    for _ in range(10):
        request = routing_request(10, urgency=crowd)
        router.start(request, router.forecast(request, ReplicaId("r0"), 0.0), 0.0)
    for _ in range(2):
        pending = _pending(router)
        queue.push(queues.waiting_of(pending, None), 0.0)
    pending = _pending(router)
    queues.check(pending, None, queue, queues.waiting_of(pending, None), 0.0)


def _pending(router: Router) -> PendingRequest:
    wanted = routing_request(10)
    asked = Request(
        id="q", operation=Operation.CHAT, model="m", body=b"", stream=True, prompt_tokens=10, deadline_s=inf
    )
    choice = router.decide(wanted, FLEET.replicas, 0.0)
    return PendingRequest(asked, wanted, Hold(BRONZE, 0.0), arrived_s=0.0, choice=choice)
