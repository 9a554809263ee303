"""What every exchange of one worker shares: the fleet, the house, the connections, the books."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from heterodyne.admission.house import House
from heterodyne.admission.tokens import TokenEstimator
from heterodyne.domain.errors import EngineUnavailable, HeterodyneError
from heterodyne.domain.fleet import FleetSnapshot, PoolName, Replica, ReplicaId
from heterodyne.domain.record import RequestRecord
from heterodyne.domain.request import Request
from heterodyne.gateway.fleet_view import FleetView
from heterodyne.gateway.render import Dateline
from heterodyne.gateway.settings import GatewaySettings
from heterodyne.ports.adapters import Adapters
from heterodyne.ports.records import RecordSink
from heterodyne.routing.decide import decide
from heterodyne.routing.expected_ttft import ExpectedTtft
from heterodyne.routing.standing.fleet_standing import FleetStanding
from heterodyne.telemetry.request_meters import RequestMeters
from heterodyne.wire.connection_pool import ConnectionPool

if TYPE_CHECKING:
    from heterodyne.gateway.exchange import Exchange

NOBODY: frozenset[ReplicaId] = frozenset()
ADAPTER_RETRY_AFTER_S = 2


class Backstage:
    """One per worker."""

    def __init__(
        self,
        *,
        settings: GatewaySettings,
        fleet: FleetView,
        standing: FleetStanding,
        house: House,
        pool: ConnectionPool,
        adapters: Adapters,
        records: RecordSink,
        tokens: TokenEstimator,
        clock: Callable[[], float],
        wall_clock: Callable[[], float],
    ) -> None:
        self.settings = settings
        self.fleet = fleet
        self.standing = standing
        self.house = house
        self.pool = pool
        self.adapters = adapters
        self.tokens = tokens
        self.clock = clock
        self.wall_clock = wall_clock
        self.exchanges: set[Exchange] = set()
        self._records = records
        self._meters = RequestMeters()
        self._dateline = Dateline()
        self._usual: dict[PoolName, ExpectedTtft] = {}  # first tokens, by pool
        self.publish(fleet.snapshot)

    def identity(self, request_id: str) -> bytes:
        """The headers by which an answer can be traced."""
        encoded = request_id.encode()
        return b"x-request-id: %b\r\nx-heterodyne-request-id: %b\r\n%b" % (
            encoded,
            encoded,
            self._dateline.at(self.wall_clock()),
        )

    def enter(self, exchange: "Exchange") -> None:
        """A request is being answered."""
        self.exchanges.add(exchange)
        self.house.enter()

    def leave(self, exchange: "Exchange") -> None:
        """It no longer is."""
        self.exchanges.discard(exchange)
        self.house.leave()

    def publish(self, snapshot: FleetSnapshot) -> None:
        """A newer fleet."""
        self.fleet.publish(snapshot)
        self.standing.publish(snapshot, self.clock())
        self.adapters.publish(snapshot)
        usual = {replica.pool: self._usual.get(replica.pool) or ExpectedTtft() for replica in snapshot.replicas}
        self._usual = usual
        for replicas in snapshot.by_model.values():
            for replica in replicas:
                self.fleet.wire(replica.id).usual = usual[replica.pool] if len(replicas) > 1 else None

    def on_probe(self, replica: ReplicaId, now_s: float) -> None:
        """A health probe found the replica ready."""
        self.standing.on_probe(replica, now_s)

    def decide(self, request: Request, failed: frozenset[ReplicaId] = NOBODY) -> Replica:
        """The replica to ask, of the model or of one that stands in for it; raises why there is none."""
        snapshot, now_s = self.fleet.snapshot, self.clock()
        model = snapshot.aliases.get(request.model, request.model)
        if snapshot.adapters and model in snapshot.adapters:
            return self._decide_adapter(request, model, failed, now_s)
        try:
            return self._decide(request, model, failed, now_s)
        except EngineUnavailable:
            rule = snapshot.rules.get(model)
            for other in rule.fallbacks if rule is not None else ():
                try:
                    return self._decide(request, other, failed, now_s)
                except EngineUnavailable:
                    continue
            raise

    def try_decide(self, request: Request, failed: frozenset[ReplicaId]) -> Replica | None:
        """Another replica for a request that these have failed, or None."""
        try:
            return self.decide(request, failed)
        except HeterodyneError:
            return None

    def trim_kept(self) -> None:
        """Hold what is remembered for continuations within its bound: the longest answers are let go first."""
        keeping = [(one.kept_bytes, one) for one in self.exchanges]
        over = sum(size for size, _ in keeping) - self.settings.continuation_bytes_max
        if over > 0:
            for size, exchange in sorted(keeping, key=lambda pair: -pair[0]):
                exchange.forget_kept()
                over -= size
                if over <= 0:
                    return

    def _decide(self, request: Request, model: str, failed: frozenset[ReplicaId], now_s: float) -> Replica:
        standing = self.standing
        return decide(
            request,
            self.fleet.snapshot,
            model,
            standing.usable(model, now_s),
            self.house.by_replica,
            excluded=failed,
            weigh=lambda replica: standing.of(replica.id).weight(now_s),
        ).target

    def _decide_adapter(self, request: Request, name: str, failed: frozenset[ReplicaId], now_s: float) -> Replica:
        """One that may hold the adapter, the nearest to it first. Nobody stands in for an adapter."""
        model, standing = self.fleet.snapshot.adapters[name], self.standing
        able = [one for one in standing.usable(model, now_s) if name in one.adapters and one.id not in failed]
        if not able:
            raise EngineUnavailable(
                f"No replica of {model!r} that may hold the adapter {name!r} can take the request now.",
                retry_after_s=ADAPTER_RETRY_AFTER_S,
            )
        nearness = [self.adapters.nearness(one, name) for one in able]
        nearest = min(nearness)
        return decide(
            request,
            self.fleet.snapshot,
            model,
            [one for one, near in zip(able, nearness, strict=True) if near is nearest],
            self.house.by_replica,
            weigh=lambda replica: standing.of(replica.id).weight(now_s),
        ).target

    def refused(self, record: RequestRecord) -> None:
        """Write down a request that no replica was asked for."""
        self._records.write(record)

    def finished(self, record: RequestRecord, request: Request) -> None:
        """Write one request down and learn from it."""
        self._meters.observe(record)
        if not record.is_estimated:
            self.tokens.learn(record.model, request.prompt_chars, record.prompt_tokens)
        self._records.write(record)
