"""Pieces of answers that wait for each other a moment: to send one costs more than all that was done to make it."""

import asyncio
from typing import Final, Protocol, final

HOLD_S: Final = 0.002
HELD_BYTES_MAX: Final = 16384  # of one answer; with more it does not wait


class Holder(Protocol):
    """Who holds something back."""

    def flush(self) -> None:
        """Send it; there may be none any more."""
        ...


@final
class HeldWrites:
    """One per worker: what its connections hold back leaves together, and soon."""

    __slots__ = ("_holders",)

    def __init__(self) -> None:
        self._holders: list[Holder] = []  # each in it sends or has sent something within HOLD_S

    def add(self, holder: Holder) -> None:
        """It holds something back from now on."""
        if not self._holders:
            asyncio.get_running_loop().call_later(HOLD_S, self._flush)
        self._holders.append(holder)

    def _flush(self) -> None:
        holders, self._holders = self._holders, []
        for holder in holders:
            holder.flush()
