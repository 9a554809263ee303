"""A request that is understood and has not started: it may wait for its limits or for its turn, and may be refused."""

from heterodyne.admission.hold import Hold
from heterodyne.admission.limits.refusal import LimitRefusal
from heterodyne.admission.queue.waiting import Waiting
from heterodyne.domain.request import Request
from heterodyne.routing.routing_choice import RoutingChoice
from heterodyne.routing.routing_request import RoutingRequest


class PendingRequest:
    """Owned by the controller until it starts or is refused. One per request that does not start at once."""

    __slots__ = ("arrived_s", "choice", "handle", "hold", "is_held", "refused", "request", "routing_request", "waiting")

    def __init__(
        self,
        request: Request,
        routing_request: RoutingRequest,
        hold: Hold,
        *,
        arrived_s: float,
        choice: RoutingChoice | None,
    ) -> None:
        self.request = request
        self.routing_request = routing_request
        self.hold = hold
        self.arrived_s = arrived_s
        self.choice = choice  # the latest decision; None: no replica has room
        self.refused: LimitRefusal | None = None  # by one of its limits
        self.is_held = False  # because no replica was ready: its SLO is counted from when one is
        self.waiting: Waiting | None = None  # while it waits for its turn
        self.handle: object = None  # what the controller's driver knows it by
