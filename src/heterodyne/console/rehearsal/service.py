"""What plays recorded requests under other policies."""

from typing import Protocol

from heterodyne.console.rehearsal.pages import RehearsalPage, RehearsalRequest


class RehearsalService(Protocol):
    """Runs the simulator; one per console."""

    async def rehearse(self, asked: RehearsalRequest) -> RehearsalPage:
        """Stops what it has begun when it is cancelled."""
        ...
