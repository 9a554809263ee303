"""One exchange under way, with its client, its engines and what was written down of it."""

from heterodyne.domain.record import RequestRecord
from heterodyne.gateway.exchange import Exchange
from heterodyne.gateway.settings import GatewaySettings
from heterodyne.testing.memory_transport import MemoryTransport
from tests.support.memory_network import MemoryClient
from tests.support.request_paths import SETTINGS, RequestPath, chat, replicas


class Exchanging:
    """A started exchange, whose first replica is `a`; the owner of exchanges hears of it here."""

    def __init__(
        self, *names: str, settings: GatewaySettings = SETTINGS, path: RequestPath | None = None, **facts: object
    ) -> None:
        self.path = path or RequestPath(*replicas(*(names or ("a",))))
        self.client = MemoryClient(self.path.clock)
        self.owned: list[str] = []
        self.exchange = self.path.exchange(self, self.client, chat(**facts), settings)
        self.exchange.start(self.path.choice("a"))
        self.path.network.turn()

    def exchange_started(self, exchange: Exchange) -> None:
        self.owned.append("started")

    def exchange_ended(self, exchange: Exchange, model: str) -> None:
        self.owned.append(f"{model} ended")

    def engine(self, name: str = "a") -> MemoryTransport:
        self.path.network.turn()
        return self.path.engine(name)

    @property
    def body(self) -> bytes:
        """What the client has got, behind the head."""
        return self.client.written.partition(b"\r\n\r\n")[2]

    @property
    def status(self) -> int:
        return int(self.client.written[9:12] or 0)

    def record(self) -> RequestRecord:
        """What was written down, once; nothing is held any more."""
        self.path.request_log.write_down()
        assert self.owned == ["started", "m ended"]
        assert (self.path.upstream.limit.by_replica, self.path.health.in_flight) == ({}, 0)
        [record] = self.path.records.written
        return record
