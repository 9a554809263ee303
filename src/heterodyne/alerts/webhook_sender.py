"""Takes notices to one webhook, in their order: again when it fails, never for ever, and never more than so many."""

import asyncio
from collections import OrderedDict, deque
from typing import NamedTuple

from heterodyne.alerts.evaluator import Notice
from heterodyne.alerts.message import body
from heterodyne.alerts.webhook import Webhook
from heterodyne.telemetry import log, metrics
from heterodyne.wire.address import Address
from heterodyne.wire.connection_pool import ConnectionPool
from heterodyne.wire.errors import WireError
from heterodyne.wire.fetch import post

WAITING_MAX = 100  # notices; the oldest gives way
SENT_MAX = 1000  # keys that are remembered, so that nothing is sent twice

_log = log.get("alerts")


class RetrySchedule(NamedTuple):
    """How long a webhook is tried."""

    timeout_s: float = 10.0  # of one try
    tries_max: int = 12
    wait_s: float = 1.0  # before the second; each further one waits twice as long
    wait_max_s: float = 60.0


RETRY_SCHEDULE = RetrySchedule()


class WebhookSender:
    """One per webhook; belongs to one event loop."""

    def __init__(
        self, webhook: Webhook, pool: ConnectionPool, gateway: str, retry_schedule: RetrySchedule = RETRY_SCHEDULE
    ) -> None:
        self._webhook = webhook
        self._pool = pool
        self._gateway = gateway
        self._retry_schedule = retry_schedule
        self._address = Address(webhook.host, webhook.port, webhook.tls)
        self._waiting: deque[Notice] = deque()
        self._sent: OrderedDict[object, None] = OrderedDict()
        self._has_work = asyncio.Event()

    def put(self, notice: Notice) -> None:
        """Send it soon, where the webhook wants it and has not been sent it."""
        if not self._webhook.wants(notice.severity) or notice.key in self._sent:
            return
        self._sent[notice.key] = None
        if len(self._sent) > SENT_MAX:
            self._sent.popitem(last=False)
        if len(self._waiting) >= WAITING_MAX:
            self._give_up(self._waiting.popleft(), "dropped", "others came after it")
        self._waiting.append(notice)
        self._has_work.set()

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            await self._has_work.wait()
            while self._waiting:
                notice = self._waiting.popleft()
                try:
                    await self._send(notice)
                except Exception as error:  # noqa: BLE001  # the root of the task: one notice must not cost the others
                    self._give_up(notice, "failed", type(error).__name__)
            self._has_work.clear()

    async def _send(self, notice: Notice) -> None:
        data = body(notice, self._webhook.format, self._gateway)
        wait_s = self._retry_schedule.wait_s
        for number in range(1, self._retry_schedule.tries_max + 1):
            problem, is_final = await self._try(data)
            if problem is None:
                metrics.alerts_webhooks.add(("sent",))
                return
            if is_final or number == self._retry_schedule.tries_max:
                self._give_up(notice, "refused" if is_final else "failed", problem)
                return
            metrics.alerts_webhooks.add(("retried",))
            await asyncio.sleep(wait_s)
            wait_s = min(2 * wait_s, self._retry_schedule.wait_max_s)

    async def _try(self, data: bytes) -> tuple[str | None, bool]:
        """What went wrong, None when nothing did, and whether another try is pointless."""
        webhook = self._webhook
        try:
            answer = await post(
                self._pool,
                self._address,
                webhook.path,
                data,
                timeout_s=self._retry_schedule.timeout_s,
                headers=webhook.headers,
            )
        except WireError as error:
            return error.kind, False  # its message has the path
        if 200 <= answer.status < 300:
            return None, False
        return f"status {answer.status}", answer.status < 500 and answer.status not in (408, 429)

    def _give_up(self, notice: Notice, outcome: str, problem: str) -> None:
        metrics.alerts_webhooks.add((outcome,))
        _log.error(
            "alert_not_told",
            webhook=self._webhook.name,
            place=self._webhook.place,
            alert=notice.name,
            subject=notice.subject,
            phase=notice.phase.value,
            outcome=outcome,
            problem=problem,
        )
