"""Carries a worker's reports to the workers of other gateways and back, through the store that they share.

No request waits for it, and none fails when the store is away: what others reported is then forgotten within seconds,
and the worker goes by what it sends itself and what engines say of themselves, until the store is back.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from math import inf
from typing import Final

from heterodyne.domain.errors import StoreUnavailable
from heterodyne.ports.fleet_reports import ReportAnswer, ReportCall, ReportStore
from heterodyne.routing.worker_reports import WorkerReports
from heterodyne.telemetry import log, metrics
from heterodyne.telemetry.trouble import Trouble

INTERVAL_S: Final = 0.1
PEERS_AT_ONCE: Final = 8  # with more of them each takes its turn more rarely: what is read grows with their square
INTERVAL_MAX_S: Final = 0.8
RETRY_S_MIN: Final = 0.25
RETRY_S_MAX: Final = 2.0
GOSSIP_MAX: Final = 8  # messages sent in one turn
OUTBOX_MAX: Final = 64  # messages that wait for the store; older ones are dropped

_log = log.get("control")


class GossipOutbox:
    """What a worker tells the others of its machine, kept for those of other gateways as well."""

    def __init__(self, take: Callable[[], bytes | None], *, has_near: bool) -> None:
        self._take = take
        self._has_near = has_near
        self._far: deque[bytes] = deque(maxlen=OUTBOX_MAX)

    def take_near(self) -> bytes | None:
        """The next message for the same machine."""
        message = self._take()
        if message is not None:
            if len(self._far) == self._far.maxlen:
                metrics.gossip_dropped.add(("full",))
            self._far.append(message)
        return message

    def take_far(self) -> bytes | None:
        """The next message for other gateways."""
        if self._far:
            return self._far.popleft()
        return None if self._has_near else self._take()


class ReportLoop:
    """One per worker."""

    def __init__(
        self,
        store: ReportStore,
        reports: WorkerReports,
        *,
        sender: str,
        gateway: str,
        outbox: GossipOutbox,
        hear_gossip: Callable[[bytes], object],
        clock: Callable[[], float],
    ) -> None:
        self._store = store
        self._reports = reports
        self._sender = sender
        self._gateway = gateway
        self.outbox = outbox
        self._hear_gossip = hear_gossip
        self._clock = clock
        self._gossip_after = ""
        self._trouble = Trouble(_log, "fleet_reports_away")

    async def run(self) -> None:
        """Until cancelled; then others need not wait until this worker's report is too old."""
        try:
            await self._take_turns()
        finally:
            await self._withdraw()

    async def _take_turns(self) -> None:
        retry_s, retry_at_s = RETRY_S_MIN, -inf
        while True:
            now_s = self._clock()
            if now_s >= retry_at_s:
                if await self._turn():
                    retry_s = RETRY_S_MIN
                else:
                    retry_at_s = now_s + retry_s
                    retry_s = min(RETRY_S_MAX, 2 * retry_s)
            self._go_by_them()  # what was heard grows old, whether the store is there or not
            peers = len(self._reports.known())
            await asyncio.sleep(min(INTERVAL_MAX_S, INTERVAL_S * max(1.0, peers / PEERS_AT_ONCE)))

    async def _withdraw(self) -> None:
        try:
            await self._store.leave(self._sender)
        except StoreUnavailable as error:
            _log.info("fleet_report_not_withdrawn", error=error.message)
        await self._store.close()

    async def _turn(self) -> bool:
        now_s = self._clock()
        version, body = self._reports.compose(now_s)
        gossip: list[bytes] = []
        while len(gossip) < GOSSIP_MAX and (message := self.outbox.take_far()) is not None:
            gossip.append(message)
        call = ReportCall(
            sender=self._sender,
            gateway=self._gateway,
            version=version,
            body=body,
            known=self._reports.known(),
            gossip=gossip,
            gossip_after=self._gossip_after,
        )
        try:
            answer = await self._store.exchange(call)
        except StoreUnavailable as error:
            metrics.report_failures.add()
            metrics.reports_away.set((), 1.0)
            self._trouble.failed(error)
            return False
        self._trouble.worked()
        metrics.reports_away.set((), 0.0)
        metrics.report_bytes.add(("sent",), len(body) + sum(map(len, gossip)))
        self._hear(answer)
        return True

    def _hear(self, answer: ReportAnswer) -> None:
        self._gossip_after = answer.gossip_to
        now_s, heard_bytes = self._clock(), 0
        for entry in answer.entries:
            heard_bytes += len(entry.body or b"")
            try:
                self._reports.hear(entry.sender, entry.version, now_s - entry.age_s, entry.body)
            except ValueError:
                metrics.reports_malformed.add()
        for message in answer.gossip:
            heard_bytes += len(message)
            try:
                self._hear_gossip(message)
            except ValueError:
                metrics.gossip_dropped.add(("malformed",))
        metrics.report_bytes.add(("heard",), heard_bytes)

    def _go_by_them(self) -> None:
        now_s = self._clock()
        self._reports.apply(now_s)
        metrics.report_peers.set((), len(self._reports.known()))
        metrics.report_age.set((), self._reports.oldest_s(now_s))
