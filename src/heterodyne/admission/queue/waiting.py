"""One request as its queue sees it, and what is known of its chance to start."""

from collections.abc import Callable
from enum import Enum
from math import inf

from msgspec import Struct

from heterodyne.domain.urgency import Tier, Urgency


class Waiting(Struct, frozen=True, kw_only=True, eq=False):
    """A request that waits or runs; two of them are equal only if they are the same."""

    tenant: str
    tier: Tier = Tier.SILVER
    urgency: Urgency = Urgency.INTERACTIVE
    weight: float = 1.0  # the tenant's share beside others of the class
    service: float  # predicted token-seconds on the hardware of the model; any unit, as long as it is one
    arrived_s: float = 0.0
    deadline_s: float = inf
    least_s: float = 0.0  # what an answer takes at least once started; so much before the deadline is too late
    kv_tokens: float = 0.0  # of memory that it will hold
    cached_tokens: Callable[[], float] | None = None  # of its prompt, as it is now; None: not looked at
    handle: object = None  # whatever the owner knows it by

    @property
    def start_by_s(self) -> float:
        """From this moment on the deadline cannot be kept."""
        return self.deadline_s - self.least_s


class StartVerdict(Enum):
    """Whether a request could start at this moment."""

    YES = "yes"
    NONE = "none"  # the pool is full: none goes before it, or small requests would always be first
    NOT_FOR_IT = "not_for_it"  # what could serve it is full, other replicas are not: another may go


CanStart = Callable[[Waiting], StartVerdict]
