"""What decides between the tenants of one class: one order per file."""

from collections.abc import Iterator
from typing import Protocol

from heterodyne.admission.queue.tenant_queue import TenantQueue


class QueueOrder(Protocol):
    """The next turn among tenants' queues that are not empty. A counter is service over weight.

    No queue that joins has a counter below the floor: a tenant without requests has saved nothing up.
    """

    floor: float
    size: int  # queues that are not empty

    def join(self, tenant_queue: TenantQueue) -> None:
        """It is no longer empty; its counter is at the floor or above."""
        ...

    def leave(self, tenant_queue: TenantQueue) -> None:
        """It is empty."""
        ...

    def move(self, tenant_queue: TenantQueue) -> None:
        """Its counter was corrected."""
        ...

    def first(self) -> TenantQueue:
        """The line whose turn it is; there must be one."""
        ...

    def in_turn(self) -> Iterator[TenantQueue]:
        """All lines, from the one whose turn it is; nothing may change meanwhile."""
        ...

    def pass_by(self, tenant_queue: TenantQueue, taken: TenantQueue) -> None:
        """`taken` is about to be served before it because it holds enough; that is no credit."""
        ...

    def advance(self, tenant_queue: TenantQueue) -> None:
        """The line is about to be served."""
        ...
