"""Makes the page that every open console shows: the fleet as workers see it now, and what has just happened."""

from collections.abc import Callable, Iterable, Sequence

from heterodyne.console.fleet.pages import FleetPage
from heterodyne.console.history.figures import figures_of
from heterodyne.console.live.gateway_minute import OtherGateway, window_of_all
from heterodyne.console.live.pages import AlertLine, GatewayLine, LivePage, RequestLine
from heterodyne.console.live.pool_rows import pool_rows, replica_lines, usd_per_hour
from heterodyne.console.live.recent_activity import WINDOW_S, RecentActivity
from heterodyne.domain.usage import UsageRecord

LINES_MAX = 60
LATE_S = 5.0  # a worker that has left no view for so long is late
MICRO = 1_000_000

Alerts = Callable[[], tuple[AlertLine, ...]]


class LiveService:
    """One per console."""

    def __init__(
        self,
        fleet: Callable[[], FleetPage],
        recent_activity: RecentActivity,
        *,
        alerts: Alerts,
        problems: Callable[[], Sequence[str]],
        limit_unknown: Callable[[], int],
        wall_clock: Callable[[], float],
        others: Callable[[], Sequence[OtherGateway]] = tuple,
    ) -> None:
        """`problems` are those of the books; `limit_unknown` is the limit that a worker keeps on a replica of which it
        has learned none."""
        self._fleet = fleet
        self._recent_activity = recent_activity
        self._alerts = alerts
        self._problems = problems
        self._limit_unknown = limit_unknown
        self._wall_clock = wall_clock
        self._others = others

    @property
    def taken(self) -> int:
        """How many records there have been."""
        return self._recent_activity.taken

    def page(self, since: int = 0) -> LivePage:
        """As it is now, with requests that came after the first `since` of them."""
        now, fleet, others = self._wall_clock(), self._fleet(), self._others()
        window = window_of_all(self._recent_activity.window(now), others)
        sparks = self._recent_activity.sparks(now)
        records = self._recent_activity.latest(since, LINES_MAX)
        return LivePage(
            at=now,
            window_s=WINDOW_S,
            version=fleet.version,
            settings=fleet.settings.version,
            in_flight=sum((*(one.in_flight for one in fleet.workers), *(one.minute.in_flight for one in others))),
            queued=sum((*(one.queued for one in fleet.workers), *(one.minute.queued for one in others))),
            gateways=tuple(map(_gateway_line, others)),
            whole=figures_of(window.whole, WINDOW_S),
            usd_per_hour=usd_per_hour(fleet.replicas) or 0.0,
            pools=pool_rows(fleet, window, sparks, self._limit_unknown()),
            replicas=replica_lines(fleet),
            requests=tuple(map(request_line, records)),
            left_out=self.taken - since - len(records),
            alerts=self._alerts(),
            problems=(*self._problems(), *_late_workers(fleet)),
            until_at=window.until_at,
        )


def request_line(record: UsageRecord) -> RequestLine:
    """For the list."""
    return RequestLine(
        id=record.id,
        at=record.at,
        project=record.project,
        tier=record.tier,
        urgency=record.urgency,
        model=record.model,
        pool=record.pool,
        replica=record.replica,
        status=record.status,
        reason=record.reason,
        prompt_tokens=record.prompt_tokens,
        cached_tokens=record.cached_tokens,
        completion_tokens=record.completion_tokens,
        queue_ms=record.queue_ms,
        ttft_ms=record.ttft_ms,
        predicted_ttft_ms=record.predicted_ttft_ms,
        itl_ms=record.itl_ms,
        total_ms=record.total_ms,
        usd=record.usd_micro / MICRO,
        retries=record.retries,
        promise=record.promise,
    )


def _gateway_line(other: OtherGateway) -> GatewayLine:
    minute = other.minute
    return GatewayLine(
        name=other.name,
        settings=other.settings,
        in_flight=minute.in_flight,
        queued=minute.queued,
        last_minute=figures_of(minute.whole, WINDOW_S),
    )


def _late_workers(fleet: FleetPage) -> Iterable[str]:
    for worker in fleet.workers:
        if worker.pid is None:
            yield f"{worker.name} does not run."
        elif worker.seen_ago_s is None or worker.seen_ago_s > LATE_S:
            yield f"{worker.name} has said nothing for {LATE_S:g} s or more."
