"""What a gateway worker process reads on its standard input: a line to begin with, and one with every change."""

from msgspec import Struct

from heterodyne.config.settings import Settings
from heterodyne.domain.cache_drop import CacheDrop
from heterodyne.domain.fleet import ModelRule, Replica
from heterodyne.domain.key_restriction import KeyRestriction
from heterodyne.domain.tenant import TenantSnapshot

LEASES = "leases.sock"  # where workers lease limits, in the run folder


class WorkerPlaces(Struct, frozen=True, kw_only=True):
    """Where a worker leaves what the supervisor collects, and what it knows the supervisor by; empty: there is none."""

    books_spool: str = ""
    audit_spool: str = ""
    audit_key: str = ""  # what prompts and answers are hashed with, in hexadecimal
    console_key_sha256: str = ""  # of the key that the console's playground asks with; empty: there is no console
    abuse_secret: str = ""  # what prompts are compared by, in hexadecimal; new with every start

    def __repr__(self) -> str:
        return f"WorkerPlaces(books_spool={self.books_spool!r}, audit_spool={self.audit_spool!r})"


class WorkerOrder(Struct, frozen=True, kw_only=True):
    """Everything a worker needs, whole every time: of the files it reads none but the tenants'."""

    name: str
    settings: Settings
    replicas: tuple[Replica, ...]
    rules: dict[str, ModelRule]
    run_dir: str
    places: WorkerPlaces = WorkerPlaces()
    tenants: str = ""  # the file in the run folder that has them; empty: no tenants are kept
    tenants_here: TenantSnapshot | None = None  # the same, where the disk did not take the file
    restrictions: tuple[KeyRestriction, ...] = ()  # what policies hold against keys
    drops: tuple[CacheDrop, ...] = ()  # of kept answers
    version: int = 0  # of the fleet; a worker says which one it works by
