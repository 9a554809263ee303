"""Carries a gateway's report to the others and theirs back, through the store that they share.

Nothing that serves waits for it. What was heard is forgotten within seconds of the last report that said it; that a
gateway was there is remembered for a minute, for it may be cut off and serving.
"""

import asyncio
import time
from collections.abc import Callable
from math import inf
from typing import Final

from msgspec import Struct, structs

from heterodyne.console.live.gateway_minute import GatewayMinute, OtherGateway
from heterodyne.domain.errors import StoreUnavailable
from heterodyne.domain.kv_seen import KvSeen
from heterodyne.ports.fleet_reports import ReportCall, ReportStore
from heterodyne.supervisor.gateways.gateway_report import GatewayReport, decode, encode
from heterodyne.telemetry import log, metrics
from heterodyne.telemetry.trouble import Trouble

INTERVAL_S: Final = 0.5
STALE_S: Final = 3.0  # of a report, and of the store's last answer
MISSED_S: Final = 60.0  # a gateway that is not heard of for so long is gone
SENDERS_MAX: Final = 256
KV_INTERVAL_S: Final = 5.0  # of what is told of KV, which is much and changes slowly
SETTLED_S: Final = 3 * INTERVAL_S  # after the store is back all that can have told of themselves again

_log = log.get("assembly")


class _Heard(Struct, frozen=True):
    version: int
    made_at_s: float
    report: GatewayReport


class GatewayWatch:
    """One per supervisor whose gateway shares a fleet."""

    def __init__(self, store: ReportStore, *, sender: str, clock: Callable[[], float] = time.monotonic) -> None:
        """`sender` is the name of this process among all that ever were; `compose` has to be set before it runs."""
        self._store = store
        self._sender = sender
        self._clock = clock
        self.compose: Callable[[], GatewayReport] = lambda: GatewayReport(gateway=sender)
        self.minute: Callable[[], GatewayMinute] = GatewayMinute
        self.kv: Callable[[], KvSeen | None] = lambda: None
        self._kv_told: KvSeen | None = None
        self._kv_told_at_s = -inf
        self.settings: Callable[[], str] = str  # the version this gateway works by
        self._version = 0
        self._body = b""
        self._heard: dict[str, _Heard] = {}
        self._answered_at_s = -inf
        self._answers_since_s: float | None = None  # None: it did not answer the last time
        self._trouble = Trouble(_log, "gateways_apart")

    async def run(self) -> None:
        """Until cancelled; then others need not wait until this report is too old."""
        try:
            while True:
                await self.turn()
                await asyncio.sleep(INTERVAL_S)
        finally:
            await self._withdraw()

    async def turn(self) -> None:
        """Once: tell, and hear."""
        try:
            await self._exchange()
        except StoreUnavailable as error:
            self._trouble.failed(error)
        else:
            self._trouble.worked()

    async def fresh(self) -> dict[str, GatewayReport]:
        """What other gateways say now, asked anew; raises StoreUnavailable. Waits where the store has just come back,
        and may not have heard of all of them yet."""
        await self._exchange()
        since_s = self._answers_since_s
        if since_s is not None and (waits_s := since_s + SETTLED_S - self._clock()) > 0:
            await asyncio.sleep(waits_s)
            await self._exchange()
        return self.heard()

    async def _exchange(self) -> None:
        report = structs.replace(self.compose(), minute=self.minute(), settings=self.settings(), kv=self._kv_now())
        body = encode(report)
        if body != self._body:
            self._version, self._body = self._version + 1, body
        call = ReportCall(
            sender=self._sender,
            gateway=self._sender,
            version=self._version,
            body=body,
            known={sender: heard.version for sender, heard in self._heard.items()},
        )
        try:
            answer = await self._store.exchange(call)
        except StoreUnavailable:
            self._answers_since_s = None
            raise
        now_s = self._answered_at_s = self._clock()
        if self._answers_since_s is None:
            self._answers_since_s = now_s
        for entry in answer.entries:
            self._hear(entry.sender, entry.version, now_s - entry.age_s, entry.body)
        self._heard = {sender: one for sender, one in self._heard.items() if one.made_at_s >= now_s - MISSED_S}

    def heard(self) -> dict[str, GatewayReport]:
        """What other gateways say now, by sender."""
        cut_s = self._clock() - STALE_S
        return {sender: one.report for sender, one in self._heard.items() if one.made_at_s >= cut_s}

    def others(self) -> tuple[OtherGateway, ...]:
        """The same for consoles, by name."""
        heard = sorted(self.heard().values(), key=lambda one: one.gateway)
        return tuple(OtherGateway(name=one.gateway, minute=one.minute, settings=one.settings) for one in heard)

    def kv_elsewhere(self) -> tuple[KvSeen, ...]:
        """What they say of KV; a gateway that shows nothing of it says nothing."""
        return tuple(one.kv for one in self.heard().values() if one.kv is not None)

    def missed(self) -> tuple[str, ...]:
        """Gateways that were there within the last minute and are not heard of now; they may serve on."""
        now_s = self._clock()
        return tuple(one.report.gateway for one in self._heard.values() if one.made_at_s < now_s - STALE_S)

    def apart_s(self) -> float:
        """Since when the store has not answered; 0: it does."""
        since_s = self._clock() - self._answered_at_s
        return since_s if since_s > STALE_S else 0.0

    def _hear(self, sender: str, version: int, made_at_s: float, body: bytes | None) -> None:
        known = self._heard.get(sender)
        if body is not None:
            try:
                self._heard[sender] = _Heard(version, made_at_s, decode(body))
            except ValueError:
                metrics.reports_malformed.add()
                self._heard.pop(sender, None)
        elif known is not None and known.version == version:
            self._heard[sender] = _Heard(version, made_at_s, known.report)
        if len(self._heard) > SENDERS_MAX:
            del self._heard[min(self._heard, key=lambda one: (self._heard[one].made_at_s, one))]

    def _kv_now(self) -> KvSeen | None:
        now_s = self._clock()
        if now_s >= self._kv_told_at_s + KV_INTERVAL_S:
            self._kv_told, self._kv_told_at_s = self.kv(), now_s
        return self._kv_told

    async def _withdraw(self) -> None:
        try:
            await self._store.leave(self._sender)
        except StoreUnavailable as error:
            _log.info("gateway_report_not_withdrawn", error=error.message)
        await self._store.close()
