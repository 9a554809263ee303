"""Requests that wait for the answer to the same request, which is on its way already."""

import asyncio
from collections.abc import Callable
from typing import Final

from heterodyne.domain.errors import ClientGone, DeadlineExceeded, HeterodyneError

FLIGHTS_MAX: Final = 4096  # requests that others may wait for
FOLLOWERS_MAX: Final = 64  # of one; they are answered in one turn of the loop
LATE: Final = "The deadline passed while the same request was being answered."
LEFT: Final = "The client left while the same request was being answered."


class Flights:
    """Those of one worker, by the key of the request."""

    def __init__(self) -> None:
        self._leaders: dict[bytes, object] = {}
        self._followers: dict[bytes, list[Following]] = {}

    def lead(self, key: bytes, leader: object) -> None:
        """Let others wait for this one, unless somebody leads already, or too many do."""
        if key not in self._leaders and len(self._leaders) < FLIGHTS_MAX:
            self._leaders[key] = leader
            self._followers[key] = []

    def try_follow(
        self, key: bytes, wait_s: float, *, go_on: Callable[[], None], refused: Callable[[HeterodyneError], None]
    ) -> "Following | None":
        """The turn of a connection until the leader has ended; None: there is none, or too many follow it.

        Exactly one of the two is told.
        """
        followers = self._followers.get(key)
        if followers is None or len(followers) >= FOLLOWERS_MAX:
            return None
        follower = Following(followers, wait_s, go_on, refused)
        followers.append(follower)
        return follower

    def landed(self, key: bytes, leader: object) -> None:
        """It has ended, with or without an answer; where it led, those that follow it go on."""
        if self._leaders.get(key) is leader:
            del self._leaders[key]
            for follower in self._followers.pop(key):
                follower.wake()


class Following:
    """One that waits."""

    __slots__ = ("_among", "_go_on", "_refused", "_timer")

    def __init__(
        self,
        among: "list[Following]",
        wait_s: float,
        go_on: Callable[[], None],
        refused: Callable[[HeterodyneError], None],
    ) -> None:
        self._among = among
        self._go_on = go_on
        self._refused = refused
        self._timer = asyncio.get_running_loop().call_later(wait_s, self._end, DeadlineExceeded(LATE))

    def wake(self) -> None:
        """Go on, once whoever led has had its own answer."""
        self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(0, self._go_on)

    # Called by the client connection.

    def client_gone(self) -> None:
        self._end(ClientGone(LEFT))

    def client_slow(self) -> None:
        """Nothing is being sent."""

    def client_ready(self) -> None:
        """Nothing is being sent."""

    def _end(self, error: HeterodyneError) -> None:
        self._timer.cancel()
        if self in self._among:
            self._among.remove(self)
        self._refused(error)
