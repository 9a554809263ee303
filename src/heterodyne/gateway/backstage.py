"""What every exchange of one worker shares: the fleet, the house, the connections, the books."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from heterodyne.admission.house import House
from heterodyne.admission.tokens import TokenEstimator
from heterodyne.domain.errors import HeterodyneError
from heterodyne.domain.fleet import Replica, ReplicaId
from heterodyne.domain.record import RequestRecord
from heterodyne.domain.request import Request
from heterodyne.gateway.fleet_view import FleetView
from heterodyne.gateway.render import Dateline
from heterodyne.gateway.settings import GatewaySettings
from heterodyne.ports.records import RecordSink
from heterodyne.routing.decide import decide
from heterodyne.telemetry.request_meters import RequestMeters
from heterodyne.wire.connection_pool import ConnectionPool

if TYPE_CHECKING:
    from heterodyne.gateway.exchange import Exchange


class Backstage:
    """One per worker."""

    def __init__(
        self,
        *,
        settings: GatewaySettings,
        fleet: FleetView,
        house: House,
        pool: ConnectionPool,
        records: RecordSink,
        tokens: TokenEstimator,
        clock: Callable[[], float],
        wall_clock: Callable[[], float],
    ) -> None:
        self.settings = settings
        self.fleet = fleet
        self.house = house
        self.pool = pool
        self.tokens = tokens
        self.clock = clock
        self.wall_clock = wall_clock
        self.exchanges: set[Exchange] = set()
        self._records = records
        self._meters = RequestMeters()
        self._dateline = Dateline()

    def identity(self, request_id: str) -> bytes:
        """The headers by which an answer can be traced."""
        encoded = request_id.encode()
        return b"x-request-id: %b\r\nx-heterodyne-request-id: %b\r\n%b" % (
            encoded,
            encoded,
            self._dateline.at(self.wall_clock()),
        )

    def enter(self, exchange: "Exchange", replica: Replica) -> None:
        """A request now runs on the replica."""
        self.exchanges.add(exchange)
        self.house.enter(replica.id)

    def leave(self, exchange: "Exchange", replica: Replica) -> None:
        """It no longer does."""
        self.exchanges.discard(exchange)
        self.house.leave(replica.id)

    def move(self, source: Replica, target: Replica) -> None:
        """A request that got no answer from one replica runs on another."""
        self.house.leave(source.id)
        self.house.enter(target.id)

    def try_decide(self, request: Request, failed: frozenset[ReplicaId]) -> Replica | None:
        """Another replica for a request that these have failed, or None."""
        try:
            return decide(request, self.fleet.snapshot, self.house.by_replica, excluded=failed).target
        except HeterodyneError:
            return None

    def refused(self, record: RequestRecord) -> None:
        """Write down a request that no replica was asked for."""
        self._records.write(record)

    def finished(self, record: RequestRecord, request: Request) -> None:
        """Write one request down and learn from it."""
        self._meters.observe(record)
        if not record.is_estimated:
            self.tokens.learn(record.model, request.prompt_chars, record.prompt_tokens)
        self._records.write(record)
