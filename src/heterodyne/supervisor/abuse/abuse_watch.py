"""Judges what workers tell of requests, and holds against keys what their policies say: once a second, for all workers.

A new case is counted, logged, written into the audit log and sent to the workers with their next order. What the audit
log cannot take now is written later: a stolen key is stopped all the same.
"""

import asyncio
import time
from collections import Counter as Tally
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from heterodyne.alerts.signals import AbuseSignals
from heterodyne.console.abuse.pages import AbuseCase, AbusePage, Lifted
from heterodyne.domain.abuse_sign import AbuseSign
from heterodyne.domain.audit import ChangeEntry
from heterodyne.domain.errors import HeterodyneError, UnknownName
from heterodyne.domain.key_restriction import KeyRestriction
from heterodyne.ports.audit import ChangeLog
from heterodyne.safety.abuse.detector import AbuseDetector
from heterodyne.safety.abuse.settings import AbuseSettings
from heterodyne.supervisor.abuse.case_book import CASES_MAX, CaseBook
from heterodyne.supervisor.abuse.kept_state import KeptAbuse, read_kept, write_kept
from heterodyne.supervisor.abuse.sign_listener import SignListener
from heterodyne.telemetry import log, metrics
from heterodyne.telemetry.loops import keep_running, run_periodically
from heterodyne.telemetry.trouble import Trouble

TICK_S: Final = 1.0
KEEP_INTERVAL_S: Final = 600.0  # between two times that what keys spend is kept

_log = log.get("abuse")

Publish = Callable[[tuple[KeyRestriction, ...]], Awaitable[bool]]  # to all workers; whether they work by it


class AbuseWatch:
    """One per supervisor; belongs to one event loop."""

    def __init__(
        self,
        settings: Callable[[], Mapping[str, AbuseSettings]],
        run_dir: Path,
        kept_file: Path,
        audit: ChangeLog,
        publish: Publish,
        *,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        """`settings` are the policies as they are at the moment."""
        self._settings = settings
        self._kept_file = kept_file
        self._audit = audit
        self._publish = publish
        self._wall_clock = wall_clock
        self._listener = SignListener(run_dir, self.hear)
        self._policies: Mapping[str, AbuseSettings] = {}
        self._detector = AbuseDetector()
        self._book = CaseBook()
        self._unaudited: deque[AbuseCase] = deque(maxlen=CASES_MAX)
        self._audit_trouble = Trouble(_log, "abuse_not_audited")
        self._published: tuple[KeyRestriction, ...] | None = ()  # None: not every worker works by the last
        self._noted: set[tuple[str, str]] = set()  # labels of the gauge
        self._is_unkept = False
        self._kept_at = wall_clock()
        self._turned_away = 0

    def begin(self) -> tuple[KeyRestriction, ...]:
        """Go on from an earlier life; what workers are to begin with."""
        kept, now = read_kept(self._kept_file), self._wall_clock()
        self._book.recall(kept.cases, kept.quiet)
        self._take_policies()
        self._detector.recall(kept.spending, now)
        self._book.expire(now, self._policies)
        self._published = self._book.restrictions()
        return self._published

    async def run(self) -> None:
        """Until cancelled; nothing is listened to where there are no policies."""
        listening: asyncio.Task[None] | None = None
        async with asyncio.TaskGroup() as group:

            async def tick() -> None:
                nonlocal listening
                await self.tick()
                if self._policies and listening is None:
                    listening = group.create_task(keep_running("abuse signs", self._listener.listen))
                elif not self._policies and listening is not None:
                    listening.cancel()
                    listening = None

            await run_periodically("abuse", tick, TICK_S)

    def hear(self, signs: Sequence[AbuseSign]) -> None:
        """What a worker tells."""
        for sign in signs:
            try:
                self._judge(sign)
            except Exception as error:  # noqa: BLE001  # the root of a sign: our mistake must not cost others theirs
                _log.error("abuse_not_judged", exc_info=error)

    async def tick(self) -> None:
        """Whatever takes time: workers, the audit log, the disk."""
        now = self._wall_clock()
        self._take_policies()
        if self._book.expire(now, self._policies):
            self._is_unkept = True
        await self._publish_changes()
        await self._audit_new()
        self._note_gauges()
        if self._book.turned_away > self._turned_away:
            _log.error("abuse_cases_full", turned_away=self._book.turned_away - self._turned_away)
            self._turned_away = self._book.turned_away
        if self._is_unkept or (self._policies and now - self._kept_at >= KEEP_INTERVAL_S):
            await self._keep(now)

    async def close(self) -> None:
        """Keep what is known."""
        if self._policies:
            await self._keep(self._wall_clock())

    def page(self) -> AbusePage:
        """What an operator sees."""
        return AbusePage(cases=self._book.cases, is_on=bool(self._policies))

    def signals(self) -> tuple[AbuseSignals, ...]:
        """What alerts are judged by."""
        keys = Tally(case.policy for case in self._book.cases)
        return tuple(AbuseSignals(policy=policy, keys=count) for policy, count in keys.items())

    async def lift(self, key: str) -> Lifted:
        """Hold nothing against a key any more; raises UnknownName where nothing is."""
        lifted, quiet_until_at = self._book.lift(key, self._wall_clock())
        if not lifted:
            raise UnknownName(f"Nothing is held against the key {key!r}; `heterodyne abuse list` has those that are.")
        self._is_unkept = True
        is_applied = await self._publish_changes()
        return Lifted(cases=lifted, quiet_until_at=quiet_until_at, is_applied=is_applied)

    def _take_policies(self) -> None:
        policies = self._settings()
        if policies != self._policies:
            self._policies = policies
            self._detector.configure(policies)

    def _judge(self, sign: AbuseSign) -> None:
        for finding in self._detector.observe(sign):
            case = self._book.add(finding, self._policies[finding.policy])
            if case is None:
                continue
            self._is_unkept = True
            self._unaudited.append(case)
            metrics.abuse_findings.add((case.policy, case.watch, case.rule, case.action))
            _log.warning(
                "abuse_found",
                key=case.key,
                project=case.project,
                policy=case.policy,
                rule=case.rule,
                action=case.action,
                figures=case.detail,
            )

    def _note_gauges(self) -> None:
        held = Tally((case.policy, case.action) for case in self._book.cases)
        for labels in self._noted - held.keys():
            metrics.abuse_keys.forget(labels)
        for labels, count in held.items():
            metrics.abuse_keys.set(labels, count)
        self._noted = set(held)

    async def _publish_changes(self) -> bool:
        """Whether every worker works by what is held now."""
        wanted = self._book.restrictions()
        if wanted != self._published:
            self._published = wanted if await self._publish(wanted) else None
        return self._published is not None

    async def _audit_new(self) -> None:
        while self._unaudited:
            try:
                await asyncio.to_thread(self._audit.record, _entry(self._unaudited[0]))
            except HeterodyneError as error:
                self._audit_trouble.failed(error)
                return
            self._audit_trouble.worked()
            self._unaudited.popleft()

    async def _keep(self, now: float) -> None:
        kept = KeptAbuse(self._book.cases, self._book.quiet, tuple(self._detector.saved()))
        self._kept_at = now
        self._is_unkept = not await asyncio.to_thread(write_kept, self._kept_file, kept)


def _entry(case: AbuseCase) -> ChangeEntry:
    return ChangeEntry(
        at=case.found_at,
        who=f"policy {case.policy}",
        what=f"abuse.{case.action}",
        subject=case.key,
        after=msgspec.json.encode(case).decode(),
    )
