"""A queue at one moment, for tests and the console."""

from msgspec import Struct

from heterodyne.domain.urgency import Urgency


class QueuePosition(Struct, frozen=True, kw_only=True):
    """Where a request stands, if no other comes and everything takes what is predicted."""

    position: int  # 1: the next
    service_ahead: float
    wait_s: float
    part: float  # what its tenant has waiting up to it by weight, of what tenants have on average; 1 at most


class TenantWaiting(Struct, frozen=True, kw_only=True):
    """What one tenant has in one class."""

    tenant: str
    depth: int
    service: float
    counter: float  # service had over weight, above the floor of the class; negative after a refund


class ClassWaiting(Struct, frozen=True, kw_only=True):
    """One class; of many tenants those with the most requests."""

    urgency: Urgency
    depth: int
    service: float
    tenants_waiting: int
    tenants_remembered: int
    tenants: tuple[TenantWaiting, ...]


class QueueSnapshot(Struct, frozen=True, kw_only=True):
    """The queue of one model in one worker."""

    model: str
    depth: int
    drain_per_s: float
    running: int
    kv_held_tokens: float
    classes: tuple[ClassWaiting, ...]
