"""One worker's listening socket and the clock that every wait of its connections and exchanges sits under."""

import asyncio
from collections.abc import Callable

from msgspec import Struct

from heterodyne.admission.controller import AdmissionController
from heterodyne.domain.errors import Draining
from heterodyne.gateway.admission_gate import AdmissionGate
from heterodyne.gateway.holdings import Holdings, HoldingsWatch
from heterodyne.gateway.in_flight import InFlight
from heterodyne.gateway.loop_lag import LoopLagMonitor
from heterodyne.gateway.request_handler import RequestHandler
from heterodyne.gateway.request_log import RequestLog
from heterodyne.gateway.settings import GatewaySettings
from heterodyne.gateway.stored.inner_call import InnerAnswer, InnerCall
from heterodyne.gateway.upstream import Upstream
from heterodyne.routing.health.snapshot import FleetHealthSnapshot
from heterodyne.telemetry import log
from heterodyne.telemetry.certificate_news import ToldNews
from heterodyne.wire.limits import WireLimits
from heterodyne.wire.listening_port import ListeningPort
from heterodyne.wire.message import HttpRequest
from heterodyne.wire.server_connection import ServerConnection, ServerLedger

_log = log.get("gateway")

TICK_S = 0.1
FLUSH_S = 1.0  # for the last bytes of answers that were ended


class ServerSnapshot(Struct, frozen=True, kw_only=True):
    """What one worker holds at one moment; all zero when nobody asks anything, replicas aside."""

    replicas_takeable: int

    connections: int
    body_bytes: int
    large_bodies: int  # being read, changed or checked beside the worker
    unsent_bytes: int
    in_flight: int
    exchanges: int
    engine_connections_busy: int
    held: Holdings


class GatewayServer:
    """Opens, ticks, drains, closes."""

    def __init__(
        self,
        settings: GatewaySettings,
        *,
        request_handler: RequestHandler,
        gate: AdmissionGate,
        controller: AdmissionController,
        in_flight: InFlight,
        upstream: Upstream,
        request_log: RequestLog,
        ledger: ServerLedger,
        holdings: HoldingsWatch,
    ) -> None:
        self._settings = settings
        self._request_handler = request_handler
        self._gate = gate
        self._controller = controller
        self._in_flight = in_flight
        self._upstream = upstream
        self._request_log = request_log
        self._clock = upstream.clock
        self._ledger = ledger
        self._holdings = holdings
        self._limits = _limits(settings)
        self._listener = ListeningPort(
            self._connection,
            settings.tls_files if settings.tls_certificate else None,
            ToldNews(_log, "gateway.tls_certificate"),
            version_min=settings.tls_version_min,
            handshake_timeout_s=settings.head_timeout_s,
        )
        request_handler.stored.background.ask = self.ask
        request_handler.remote_guards.asking.ask_gateway = self.ask
        self._loop_lag = LoopLagMonitor()
        self.port = 0

    async def open(self, *, reuse_port: bool = False) -> None:
        """Listen; afterwards `port` is the real one."""
        await self._listener.open(self._settings.host, self._settings.port, reuse_port=reuse_port)
        self.port = self._listener.port

    def configure(self, settings: GatewaySettings) -> None:
        """Other limits from the next connection on."""
        self._settings = settings
        self._limits = _limits(settings)
        self._request_handler.settings = settings
        self._gate.configure(settings)
        self._upstream.configure(settings)

    async def tick(self) -> None:
        """Check every connection and exchange against its limits, ten times a second, until cancelled."""
        clock = self._clock
        while True:
            await asyncio.sleep(TICK_S)
            now_s = clock()
            for connection in tuple(self._ledger.connections):
                try:
                    connection.check(now_s)
                except Exception as error:  # noqa: BLE001  # one connection must not cost the others their limits
                    _log.error("connection_check_failed", exc_info=error)
                    connection.abort()
            for exchange in tuple(self._in_flight.exchanges):
                try:
                    exchange.check(now_s)
                except Exception as error:  # noqa: BLE001  # nor one exchange
                    _log.error("exchange_check_failed", exc_info=error)
            self._in_flight.trim_kept(self._settings.continuation_bytes_max)
            self._request_handler.offloaded.check(now_s)
            self._gate.tick()
            await self._listener.look(now_s)
            self._request_log.write_down()
            self._holdings.look(now_s)
            self._loop_lag.note()
            if not self._ledger.connections:
                self._loop_lag.sleep()

    async def drain(self) -> None:
        """Take nothing new, let what runs finish for as long as the settings grant, end the rest as errors."""
        self._in_flight.limit.is_draining = True
        self._ledger.is_draining = True
        self._listener.close()
        clock = self._clock
        until_s = clock() + self._settings.drain_timeout_s
        while self._is_at_work() and clock() < until_s:
            await asyncio.sleep(TICK_S / 4)
        self._end_all()
        # Answers that are complete here may still be on their way out.
        until_s = max(until_s, clock() + FLUSH_S)
        while clock() < until_s and any(connection.is_flushing for connection in self._ledger.connections):
            await asyncio.sleep(TICK_S / 4)
        self._request_log.write_down()
        self._holdings.last_look()

    def _is_at_work(self) -> bool:
        """Whether a request is answered, waits, or is read or judged."""
        handler = self._request_handler
        waiting = self._controller.waiting or handler.offloaded or handler.remote_guards.waiting
        return bool(self._in_flight.exchanges or waiting or handler.stored)

    def snapshot(self) -> ServerSnapshot:
        """What is held now."""
        return ServerSnapshot(
            replicas_takeable=sum(replica.is_takeable for replica in self._upstream.fleet.snapshot.replicas),
            connections=len(self._ledger.connections),
            body_bytes=self._ledger.body_bytes,
            large_bodies=self._upstream.offload.jobs,
            unsent_bytes=sum(connection.unsent_bytes for connection in self._ledger.connections),
            in_flight=self._in_flight.limit.in_flight,
            exchanges=len(self._in_flight.exchanges),
            engine_connections_busy=self._upstream.pool.busy,
            held=self._holdings.holdings(),
        )

    @property
    def longest_turn_s(self) -> tuple[float, float]:
        """The longest turn of the loop in the last minute: by the wall's clock, and in processor time."""
        return self._loop_lag.longest_s

    def fleet_health(self) -> FleetHealthSnapshot:
        """How every replica stands with this worker."""
        return self._upstream.selector.health.snapshot(self._clock())

    async def close(self) -> None:
        """Cut what is left; whatever requests still hold is given back, as at any other end."""
        self._in_flight.limit.is_draining = True
        self._listener.close()
        self._loop_lag.sleep()
        self._end_all()
        for connection in tuple(self._ledger.connections):
            connection.abort()
        self._request_log.write_down()
        await self._request_handler.stored.close()
        await self._request_handler.remote_guards.close()
        await self._upstream.offload.close()
        await self._upstream.pool.close()

    def _end_all(self) -> None:
        self._request_handler.offloaded.close()
        ended = Draining("The gateway shut down before the request was judged.")
        self._request_handler.remote_guards.end_waiting(ended)
        self._gate.close()
        for exchange in tuple(self._in_flight.exchanges):
            exchange.give_up(Draining("The gateway shut down before the answer was complete."))

    def ask(
        self,
        http: HttpRequest,
        ended: Callable[[InnerAnswer], None] | None = None,
        heard: Callable[[bytes], None] | None = None,
    ) -> InnerCall:
        """Ask ourselves."""
        return InnerCall(
            self._connection,
            self._request_handler,
            self._ledger,
            http,
            answer_bytes_max=self._settings.answer_bytes_max,
            ended=ended,
            heard=heard,
        )

    def _connection(self) -> ServerConnection:
        self._loop_lag.wake()
        return ServerConnection(self._request_handler, self._limits, self._ledger, self._clock)


def _limits(settings: GatewaySettings) -> WireLimits:
    return WireLimits(
        connections_max=settings.connections_max,
        head_bytes_max=settings.head_bytes_max,
        headers_max=settings.headers_max,
        body_bytes_max=settings.body_bytes_max,
        bodies_bytes_max=settings.bodies_bytes_max,
        head_timeout_s=settings.head_timeout_s,
        body_timeout_s=settings.body_timeout_s,
        idle_timeout_s=settings.idle_timeout_s,
        write_timeout_s=settings.write_timeout_s,
    )
