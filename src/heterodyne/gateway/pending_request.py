"""A request at the door: understood and not yet started. It may wait, for leases or for its turn, and it may leave."""

from typing import TYPE_CHECKING

from heterodyne.admission.limits.refusal import LimitRefusal
from heterodyne.admission.queue.waiting import Waiting
from heterodyne.domain.request import Request
from heterodyne.gateway.exchange import Exchange
from heterodyne.gateway.hold import Hold
from heterodyne.gateway.lease_client import LeaseWaiter
from heterodyne.routing.forecast import RoutingChoice
from heterodyne.routing.routing_request import RoutingRequest
from heterodyne.wire.server_connection import ServerConnection

if TYPE_CHECKING:
    from heterodyne.gateway.admission import AdmissionController


class PendingRequest:
    """Answers the client's connection while nobody else does."""

    __slots__ = (
        "_admission_controller",
        "arrived_s",
        "choice",
        "connection",
        "hold",
        "is_arriving",
        "is_plain",
        "lease",
        "refused",
        "request",
        "responder",
        "routing_request",
        "waiting",
    )

    def __init__(
        self,
        admission_controller: "AdmissionController",
        connection: ServerConnection,
        request: Request,
        routing_request: RoutingRequest,
        hold: Hold,
        *,
        is_plain: bool,
        arrived_s: float,
    ) -> None:
        self._admission_controller = admission_controller
        self.connection = connection
        self.request = request
        self.routing_request = routing_request
        self.hold = hold
        self.is_plain = is_plain  # errors are told in the shape of the Open Inference Protocol
        self.arrived_s = arrived_s
        self.is_arriving = True  # whoever called the door has not been told yet who answers
        self.responder: Exchange | None = None  # once it was started
        self.choice: RoutingChoice | None = None  # the latest decision; None: nobody has room
        self.lease: LeaseWaiter | None = None  # while it waits for leases
        self.refused: LimitRefusal | None = None  # by one of its limits
        self.waiting: Waiting | None = None  # while it waits for its turn

    def client_gone(self) -> None:
        """Nobody is left to answer."""
        self._admission_controller.abandon(self)

    def client_slow(self) -> None:
        """Nothing is being sent."""

    def client_ready(self) -> None:
        """Nothing is being sent."""
