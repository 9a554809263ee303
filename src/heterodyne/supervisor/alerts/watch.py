"""Evaluates alerts every few seconds: the console gets what fires, webhooks what changed, workers how many fire."""

import asyncio
import os
import socket
import ssl
import time
from collections import Counter as Tally
from collections.abc import Callable, Mapping
from pathlib import Path

from heterodyne.alerts.catalogue import ALERTS
from heterodyne.alerts.evaluator import AlertEvaluator, Notice, Phase
from heterodyne.alerts.settings import AlertSettings
from heterodyne.alerts.webhook import read_webhook
from heterodyne.alerts.webhook_sender import RETRY_SCHEDULE, RetrySchedule, WebhookSender
from heterodyne.console.live.pages import AlertLine
from heterodyne.domain.errors import InvalidSpec
from heterodyne.supervisor.alerts.signals import SignalMaker
from heterodyne.telemetry import exposition, log, metrics
from heterodyne.wire.connection_pool import ConnectionPool

NAME = "alerts"  # of the file of meters in the run folder
INTERVAL_S = 15.0
# What the supervisor counts itself; workers, books and audit leave theirs.
OWN_METERS = (
    metrics.alerts_firing,
    metrics.alerts_webhooks,
    metrics.worker_restarts,
    metrics.rollout_share,
    metrics.rollout_stage,
    metrics.rollouts_ended,
)

_log = log.get("alerts")


class AlertWatch:
    """One per supervisor; belongs to one event loop. Thresholds are read each time, webhooks once."""

    def __init__(
        self,
        settings: Callable[[], AlertSettings],
        maker: SignalMaker,
        run_dir: Path,
        *,
        environment: Mapping[str, str] = os.environ,
        interval_s: float = INTERVAL_S,
        retry_schedule: RetrySchedule = RETRY_SCHEDULE,
        tls: ssl.SSLContext | None = None,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        self._settings = settings
        self._maker = maker
        self._run_dir = run_dir
        self._environment = environment
        self._interval_s = interval_s
        self._retry_schedule = retry_schedule
        self._tls = tls
        self._wall_clock = wall_clock
        self._evaluator = AlertEvaluator()
        self._senders: tuple[WebhookSender, ...] = ()
        self._left_out = 0

    def lines(self) -> tuple[AlertLine, ...]:
        """What fires now, for the console."""
        return tuple(map(_line, self._evaluator.firing()))

    async def run(self) -> None:
        """Until cancelled."""
        pool = ConnectionPool(asyncio.get_running_loop(), idle_max=0, tls=self._tls)
        self._senders = tuple(self._open_senders(pool))
        try:
            async with asyncio.TaskGroup() as group:
                for sender in self._senders:
                    group.create_task(sender.run(), name="webhook")
                group.create_task(self._look_again(), name="alerts")
        finally:
            await pool.close()

    async def look(self) -> tuple[Notice, ...]:
        """Once: evaluate what is, hand what changed to the senders, and leave the meters."""
        signals = await self._maker.make(self._wall_clock())
        changed = self._evaluator.evaluate(signals, self._settings())
        for notice in changed:
            self._log_notice(notice)
            for sender in self._senders:
                sender.put(notice)
        if self._evaluator.left_out > self._left_out:
            _log.warning("alerts_left_out", count=self._evaluator.left_out - self._left_out)
            self._left_out = self._evaluator.left_out
        await self._write_meters()
        return changed

    def _open_senders(self, pool: ConnectionPool) -> list[WebhookSender]:
        """One for each webhook that can be called; the settings were checked, the environment may have changed."""
        found = []
        for name, table in self._settings().webhooks.items():
            try:
                webhook = read_webhook(name, table, self._environment)
            except InvalidSpec as error:
                _log.error("webhook_not_used", webhook=name, problem=error.message)
                continue
            found.append(WebhookSender(webhook, pool, socket.gethostname(), self._retry_schedule))
        return found

    async def _look_again(self) -> None:
        while True:
            try:
                await self.look()
            except Exception as error:  # noqa: BLE001  # the root of the task: our mistake must not end what serves
                _log.error("alerts_not_judged", exc_info=error)
            await asyncio.sleep(self._interval_s)

    def _log_notice(self, notice: Notice) -> None:
        say = _log.warning if notice.phase is Phase.FIRING else _log.info
        say(
            f"alert_{notice.phase.value}",
            alert=notice.name,
            severity=notice.severity.value,
            subject=notice.subject,
            summary=notice.summary,
        )

    async def _write_meters(self) -> None:
        firing = Tally(notice.name for notice in self._evaluator.firing())
        for alert in ALERTS:
            metrics.alerts_firing.set((alert.name, alert.severity.value), firing[alert.name])
        metrics.worker_restarts.cell(())[0] = float(self._maker.worker_restarts())
        try:
            await asyncio.to_thread(exposition.write_samples, self._run_dir, NAME, exposition.own_samples(OWN_METERS))
        except OSError as error:
            _log.warning("meters_not_left", error=str(error))


def _line(notice: Notice) -> AlertLine:
    return AlertLine(
        name=notice.name,
        severity=notice.severity.value,
        subject=notice.subject,
        summary=notice.summary,
        since_at=notice.since_at,
        guide=notice.guide,
    )
