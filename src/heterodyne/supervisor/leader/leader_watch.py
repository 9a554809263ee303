"""Keeps the lease of the leader in the database that gateways share, whichever database that is.

A database in a file has one gateway as a rule, which leads as soon as it has looked; of several on one file one leads.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Final

import msgspec
from msgspec import structs

from heterodyne.batches.batch import EVERYBODY
from heterodyne.domain.errors import StoreUnavailable
from heterodyne.ports.document_store import Document, DocumentStore
from heterodyne.supervisor.leader.lease_rule import RENEW_S, LeaderLease, LeaseRule, LeaseStep
from heterodyne.telemetry import log, metrics
from heterodyne.telemetry.trouble import Trouble

ID: Final = "leader"
KIND: Final = "leader"
KEPT_S: Final = 10 * 365 * 86400.0  # documents expire; this one is prolonged with every renewal

_log = log.get("assembly")
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(LeaderLease).decode


class LeaderWatch:
    """One per supervisor. A control loop asks for `fence()` before it acts, and again before each step of its act."""

    def __init__(
        self,
        store: DocumentStore,
        holder: str,
        *,
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        """`holder` is the name of this process among all that ever were."""
        self._store = store
        self._holder = holder
        self._rule = LeaseRule(holder)
        self._clock = clock
        self._wall_clock = wall_clock
        self._trouble = Trouble(_log, "leader_unknown")
        self._was_leader = False

    def fence(self) -> int | None:
        """The number of this leadership, higher than any before; None: another leads, or nobody does for now."""
        return self._rule.fence(self._clock())

    @property
    def is_leader(self) -> bool:
        """Whether this gateway runs what only one may run."""
        return self.fence() is not None

    async def run(self) -> None:
        """Until cancelled; then another need not wait until the lease is over."""
        try:
            while True:
                try:
                    await self.look()
                    self._trouble.worked()
                except StoreUnavailable as error:
                    self._trouble.failed(error)  # leadership ends by itself
                self._note()
                await asyncio.sleep(RENEW_S)
        finally:
            await self._give_back()

    async def look(self) -> None:
        """Once: renew the lease, take it, or wait; raises StoreUnavailable."""
        began_at_s = self._clock()
        found = await self._store.get(EVERYBODY, KIND, ID, self._wall_clock())
        if found is None:
            if await self._store.add([self._document(LeaderLease(holder=self._holder, term=1))]):
                self._rule.kept(1, began_at_s)
            return
        lease = _decode(found.body)
        step = self._rule.step(lease, found.revision, self._clock())
        if step is LeaseStep.WAIT:
            return
        term = lease.term if step is LeaseStep.RENEW else lease.term + 1
        if await self._replace(found, LeaderLease(holder=self._holder, term=term)):
            self._rule.kept(term, began_at_s)
        else:
            self._rule.lost()

    async def _give_back(self) -> None:
        if not self.is_leader:
            return
        self._rule.lost()
        self._note()
        try:
            found = await self._store.get(EVERYBODY, KIND, ID, self._wall_clock())
            lease = None if found is None else _decode(found.body)
            if found is not None and lease is not None and lease.holder == self._holder:
                await self._replace(found, structs.replace(lease, holder=""))
        except StoreUnavailable as error:
            _log.info("leader_not_given_back", error=error.message)

    async def _replace(self, found: Document, lease: LeaderLease) -> bool:
        document = self._document(lease)
        return await self._store.replace(structs.replace(document, revision=found.revision + 1))

    def _document(self, lease: LeaderLease) -> Document:
        now = self._wall_clock()
        return Document(
            id=ID, project=EVERYBODY, kind=KIND, created_at=now, expires_at=now + KEPT_S, body=_encode(lease)
        )

    def _note(self) -> None:
        is_leader, fence = self.is_leader, self.fence()
        metrics.leader.set((), float(is_leader))
        if is_leader is not self._was_leader:
            self._was_leader = is_leader
            _log.info("leads" if is_leader else "leads_no_more", term=fence)
