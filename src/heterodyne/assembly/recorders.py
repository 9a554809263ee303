"""What a worker leaves or sends for the supervisor: usage, entries of the audit log, and signs of abuse."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from heterodyne.audit.key import ContentKey
from heterodyne.audit.spool import AuditSpool
from heterodyne.books.flight_slots import FlightSlots
from heterodyne.books.spool import UsageSpool
from heterodyne.gateway.abuse.sign_sender import SignSender
from heterodyne.gateway.audit_recorder import AuditRecorder
from heterodyne.gateway.usage_recorder import UsageRecorder
from heterodyne.supervisor.workers.order import WorkerOrder


@contextmanager
def open_usage_recorder(order: WorkerOrder) -> Iterator[UsageRecorder | None]:
    """None where no books are kept. Each start has files of its own, so that those of the last can be recovered."""
    if not order.places.books_spool:
        yield None
        return
    folder, settings = Path(order.places.books_spool), order.settings.books
    life = f"{time.time_ns():016x}"
    slots = FlightSlots(folder / f"{order.name}.{life}.slots", settings.slots_max, is_opened=False)
    spool = UsageSpool(folder, order.name, life, slots, bytes_max=settings.spool_bytes_max)
    spool.start()
    try:
        yield UsageRecorder(slots, spool)
    finally:
        spool.close()


@contextmanager
def open_audit_recorder(order: WorkerOrder) -> Iterator[AuditRecorder | None]:
    """None where requests are not audited."""
    settings, places = order.settings.audit, order.places
    if not settings.is_on or not places.audit_spool:
        yield None
        return
    spool = AuditSpool(Path(places.audit_spool), order.name, ContentKey(bytes.fromhex(places.audit_key)), settings)
    try:
        yield AuditRecorder(spool, settings.regions)
    finally:
        spool.close()


@contextmanager
def open_sign_sender(order: WorkerOrder) -> Iterator[SignSender]:
    """It does nothing before there is a policy against abuse."""
    signs = SignSender(Path(order.run_dir), bytes.fromhex(order.places.abuse_secret))
    try:
        yield signs
    finally:
        signs.close()
