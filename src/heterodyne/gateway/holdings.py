"""What requests hold in one worker at one moment, gathered from everybody who keeps such a count.

Whatever a request takes it gives back once, however it ends. So where nobody is answered and nobody waits all of this
is zero; anything else is a mistake of ours, and soon a replica that seems busy or a limit that seems reached.
"""

from msgspec import Struct, structs

from heterodyne.admission.controller import AdmissionController
from heterodyne.admission.limits.book import LimitBook
from heterodyne.gateway.in_flight import InFlight
from heterodyne.gateway.request_log import RequestLog
from heterodyne.gateway.upstream import Upstream
from heterodyne.telemetry import log, metrics

LOOK_S = 1.0
LOOKS_MIN = 3  # in a row: a connection that was cut is closed a moment later

_log = log.get("gateway")


class Holdings(Struct, frozen=True, kw_only=True):
    """Counts, and the sums that predictions are made of."""

    requests: int  # that the house counts
    exchanges: int
    waiting: int  # for leases or for their turn
    attempts: int  # that the house counts, on all replicas
    tickets: int  # that the router's seats count, those of replicas that have left included
    tokens: float  # of context, that seats and queues think are held
    work_s: float  # of prompts, that seats think are still to be computed
    interactive: int  # requests that spare capacity is kept beside
    standings: int  # attempts that replicas are judged by
    running: int  # requests that fair queues count among those that run
    reservations: int  # of limits
    adapter_uses: int
    kv_exchanges: int
    slots: int  # of the books, that no record has closed
    engine_connections: int  # that are not idle

    @property
    def left(self) -> dict[str, float]:
        """What is not zero, by name."""
        return {name: value for name, value in structs.asdict(self).items() if value}

    @property
    def is_idle(self) -> bool:
        """Whether nobody is answered and nobody waits."""
        return not (self.requests or self.exchanges or self.waiting)


class HoldingsWatch:
    """One per worker: notices what is held for nobody, says so once, and says when it is gone."""

    def __init__(
        self,
        in_flight: InFlight,
        controller: AdmissionController,
        upstream: Upstream,
        request_log: RequestLog,
        book: LimitBook,
    ) -> None:
        self._in_flight = in_flight
        self._controller = controller
        self._upstream = upstream
        self._request_log = request_log
        self._book = book
        self._look_at_s = 0.0
        self._looks = 0  # in a row at which something was left
        self.is_leaking = False

    def holdings(self) -> Holdings:
        """Now."""
        upstream, limit = self._upstream, self._in_flight.limit
        queues = self._controller.queues.snapshots(upstream.clock())
        states, interactive = upstream.router.snapshot()
        return Holdings(
            requests=limit.in_flight,
            exchanges=len(self._in_flight.exchanges),
            waiting=self._controller.waiting,
            attempts=sum(limit.by_replica.values()),
            tickets=sum(state.in_flight + state.waiting + state.decoding + state.blind for state in states),
            tokens=sum(state.context_tokens + state.waiting_tokens for state in states)
            + sum(queue.kv_held_tokens for queue in queues),
            work_s=sum(state.waiting_work_s + state.blind_work_s for state in states),
            interactive=interactive,
            standings=upstream.selector.health.in_flight,
            running=sum(queue.running for queue in queues),
            reservations=self._book.outstanding,
            adapter_uses=upstream.adapters.uses,
            kv_exchanges=upstream.kv.running,
            slots=self._request_log.slots_open,
            engine_connections=upstream.pool.busy,
        )

    def look(self, now_s: float) -> None:
        """Called by the worker's clock; most calls cost a comparison."""
        if now_s < self._look_at_s:
            return
        self._look_at_s = now_s + LOOK_S
        if self._in_flight.exchanges or self._controller.waiting:
            self._looks = 0
            return
        left = self.holdings().left
        self._looks = self._looks + 1 if left else 0
        if left and self._looks >= LOOKS_MIN and not self.is_leaking:
            self.is_leaking = True
            _log.error("held_for_nobody", **left)
        elif not left and self.is_leaking:
            self.is_leaking = False
            _log.info("held_for_nobody_no_more")

    def last_look(self) -> None:
        """Every request has been ended; connections to engines may still be closing."""
        left = structs.replace(self.holdings(), engine_connections=0).left
        if left:
            _log.error("held_for_nobody", **left)

    def note_gauges(self) -> None:
        """Everything, by name."""
        for name, value in structs.asdict(self.holdings()).items():
            metrics.held.set((name,), value)
