"""An answer that is sent piece by piece, as fast as its client takes it."""

import asyncio
from abc import ABC, abstractmethod

from heterodyne.wire.server_connection import ServerConnection


class SendingTask(ABC):
    """The turn of one connection, from the head of its answer on."""

    def __init__(self) -> None:
        self._is_taken = asyncio.Event()  # whether the client has taken what was written; waited for between pieces
        self._is_taken.set()
        self._task: asyncio.Task[None] | None = None

    def start(self, connection: ServerConnection) -> asyncio.Task[None]:
        """Send it."""
        self._task = asyncio.get_running_loop().create_task(self._send(connection))
        connection.hand_over(self)
        return self._task

    # Called by the client connection.

    def client_gone(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def client_slow(self) -> None:
        self._is_taken.clear()

    def client_ready(self) -> None:
        self._is_taken.set()

    @abstractmethod
    async def _send(self, connection: ServerConnection) -> None:
        """All of it, to its end."""
