"""What the supervisor alone has open: the database, the audit log, the collector of usage and the source of limits."""

from pathlib import Path

from msgspec import Struct

from heterodyne.audit.audit_writer import AuditWriterState
from heterodyne.books.collector import CollectorState
from heterodyne.console.live.recent_activity import RecentActivity
from heterodyne.domain.tenant import TenantSnapshot
from heterodyne.ports.books import BookStore
from heterodyne.ports.document_store import DocumentStore
from heterodyne.ports.file_contents import FileContents
from heterodyne.ports.leases import LimitReader
from heterodyne.ports.model_store import ModelStore
from heterodyne.ports.policy_store import PolicyStore
from heterodyne.ports.rollout_store import RolloutStore
from heterodyne.ports.tenants import TenantStore
from heterodyne.supervisor.stores.shared_audit_log import SharedAuditLog
from heterodyne.supervisor.stores.supervisor_books import SupervisorBooks
from heterodyne.supervisor.workers.order import WorkerPlaces


class SupervisorStores(Struct, frozen=True, kw_only=True, eq=False):
    """One per supervisor; open for as long as it runs."""

    tenants: TenantStore
    snapshot: TenantSnapshot  # of the tenants, as they were at the start
    books: BookStore
    rollouts: RolloutStore
    models: ModelStore  # of the registry
    policies: PolicyStore  # what guards, caches and cascades did
    documents: DocumentStore
    contents: FileContents  # of those that are files
    uploads: Path  # files that workers have not received whole yet
    usage: SupervisorBooks | None  # collects what workers spool; None: no books are kept
    audit: SharedAuditLog
    limits: LimitReader  # how far their counters have got
    recent_activity: RecentActivity
    places: WorkerPlaces  # where workers leave usage and entries of the audit log
    console_key: str  # what the playground asks the workers with; new with every start

    def __repr__(self) -> str:
        return f"SupervisorStores(places={self.places!r})"  # the key is a secret

    def collecting(self) -> CollectorState | None:
        """How usage is collected; None: no books are kept."""
        return None if self.usage is None else self.usage.state

    def auditing(self) -> AuditWriterState | None:
        """How the audit log is written; None: another process writes it, or none can."""
        return self.audit.try_snapshot()
