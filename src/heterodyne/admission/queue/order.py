"""What decides between the tenants of one class: one order per file."""

from collections.abc import Iterator
from typing import Protocol

from heterodyne.admission.queue.tenant_queue import TenantQueue


class QueueOrder(Protocol):
    """Whose turn it is among lines in which somebody waits. A counter is service over weight.

    No line that joins has a counter below the floor: whoever did not ask has not saved anything up.
    """

    floor: float
    size: int  # lines in which somebody waits

    def join(self, tenant_queue: TenantQueue) -> None:
        """Somebody waits in it now; its counter is at the floor or above."""
        ...

    def leave(self, tenant_queue: TenantQueue) -> None:
        """Nobody does any more."""
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
