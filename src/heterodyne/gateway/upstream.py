"""What it takes to ask replicas: whom to ask, in which words, over which connection, and what is kept of it."""

from collections.abc import Callable

from heterodyne.admission.concurrency_limit import ConcurrencyLimit
from heterodyne.books.flight_slots import FlightSlot
from heterodyne.domain.errors import HeterodyneError
from heterodyne.domain.fleet import Replica, ReplicaId
from heterodyne.domain.request import Request
from heterodyne.gateway.fleet_view import FleetView
from heterodyne.gateway.kv.recent_prompts import RecentPrompts
from heterodyne.gateway.kv.transfers import KvTransfers
from heterodyne.gateway.offload.large import LargeCall
from heterodyne.gateway.offload.process import Offload
from heterodyne.gateway.settings import GatewaySettings
from heterodyne.ports.adapters import Adapters
from heterodyne.ports.engine import DeliveredText
from heterodyne.ports.engine_request import EngineRequest
from heterodyne.routing.fallback import FallbackRouter
from heterodyne.routing.router import Router
from heterodyne.routing.routing_choice import RoutingChoice
from heterodyne.routing.routing_request import RoutingRequest
from heterodyne.telemetry.tracing.context import Hop, Trace
from heterodyne.wire.connection_pool import ConnectionPool

Place = Callable[..., FlightSlot]  # writes down in the books where a request is sent; `RequestLog.place`


class Upstream:
    """The replicas as attempts see them. One per worker."""

    def __init__(
        self,
        *,
        fleet: FleetView,
        selector: FallbackRouter,
        router: Router,
        limit: ConcurrencyLimit,
        pool: ConnectionPool,
        adapters: Adapters,
        offload: Offload,
        place: Place | None,
        hop: Callable[[Trace], Hop] | None,
        answer_bytes_max: int,
        clock: Callable[[], float],
        kv: KvTransfers,
    ) -> None:
        self.fleet = fleet
        self.selector = selector
        self.router = router
        self.limit = limit
        self.pool = pool
        self.adapters = adapters
        self.offload = offload
        self.place = place  # None: there are no books
        self._hop = hop
        self.answer_bytes_max = answer_bytes_max
        self.clock = clock
        self.kv = kv
        self.prompts = RecentPrompts()

    def call(
        self, request: Request, target: Replica, salt: bytes, delivered: DeliveredText | None = None
    ) -> EngineRequest | LargeCall:
        """The request in the words of the replica's engine; raises what that cannot be asked.

        The call of a large body is made when it is to be sent.
        """
        if request.is_large:
            return LargeCall(self.offload, request, target, salt, delivered)
        return self.fleet.wire(target.id).dialect.call(request, target)

    def try_call(self, request: Request, choice: RoutingChoice | None, salt: bytes) -> EngineRequest | LargeCall | None:
        """The same; None where the engine has no words for it, or no replica was found."""
        if choice is None:
            return None
        try:
            return self.call(request, choice.target, salt)
        except HeterodyneError:
            return None

    def try_decide(
        self, request: Request, routing_request: RoutingRequest, failed: frozenset[ReplicaId]
    ) -> RoutingChoice | None:
        """Another replica than those that have failed it, or None."""
        return self.selector.try_decide(request, routing_request, self.clock(), failed)

    def try_retry(self, model: str, prompt_tokens: int) -> bool:
        """Whether the model's retry budget pays for a request of so many prompt tokens."""
        return self.selector.health.try_retry(model, prompt_tokens, self.clock())

    def hop(self, trace: Trace) -> Hop | None:
        """The next attempt's place in the request's trace; None: no trace is made."""
        return None if self._hop is None else self._hop(trace)

    def configure(self, settings: GatewaySettings) -> None:
        """Other bounds from the next answer on."""
        self.answer_bytes_max = settings.answer_bytes_max
