"""What was read from sockets and not parsed yet: the time of each piece is taken before any of them is looked at.

An engine sends a token of every stream at the end of a step, all at once. Parsing them in the order they are read would
date the last of some hundred by what it took to parse the others, and hold up the requests that are meant to leave.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from math import inf
from typing import Protocol

SLICE_S = 0.0002  # of parsing, until sockets and timers have their turn
PIECES_MAX = 4096  # with more, the client is too slow for what comes, and sockets have to wait


class Unparsing(Protocol):
    """A connection with pieces that it has kept."""

    def parse_next(self) -> None:
        """Parse the oldest piece, if it still has one."""


class UnparsedPieces:
    """Shared by the connections of one client."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock = clock
        self._owners: deque[Unparsing] = deque()  # one entry for each piece, in the order they were read
        self._is_parsing_soon = False

    def add(self, owner: Unparsing) -> None:
        """The connection has kept one more."""
        self._owners.append(owner)
        if not self._is_parsing_soon:
            self._is_parsing_soon = True
            asyncio.get_running_loop().call_soon(self._parse)

    def _parse(self) -> None:
        until_s = inf if len(self._owners) > PIECES_MAX else self.clock() + SLICE_S
        while self._owners:
            self._owners.popleft().parse_next()
            if self.clock() > until_s:
                break
        self._is_parsing_soon = bool(self._owners)
        if self._owners:
            asyncio.get_running_loop().call_soon(self._parse)
