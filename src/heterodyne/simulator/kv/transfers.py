"""Bytes on their way: what is under way at once shares the ports at both ends."""

from heapq import heappop, heappush
from math import inf
from typing import Final

ROUNDING_BYTES: Final = 1e-3


class Port:
    """One direction of a replica's network card, of the bus to its host memory, or of a store."""

    __slots__ = ("_nominal", "busy", "bytes_moved", "bytes_per_s", "each_bytes_per_s", "latency_s")

    def __init__(self, bytes_per_s: float, latency_s: float = 0.0, *, each_bytes_per_s: float = inf) -> None:
        self._nominal = bytes_per_s, each_bytes_per_s
        self.bytes_per_s = bytes_per_s
        self.each_bytes_per_s = each_bytes_per_s  # no transfer gets more, however few there are
        self.latency_s = latency_s
        self.busy = 0  # transfers through it now
        self.bytes_moved = 0.0

    def throttle(self, slowdown: float) -> None:
        """From now on it moves a byte in so many times what it took at first; infinite: it moves none."""
        bytes_per_s, each_bytes_per_s = self._nominal
        self.bytes_per_s, self.each_bytes_per_s = (
            (0.0, 0.0) if slowdown == inf else (bytes_per_s / slowdown, each_bytes_per_s / slowdown)
        )

    @property
    def share_bytes_per_s(self) -> float:
        """What each of those through it gets."""
        return min(self.each_bytes_per_s, self.bytes_per_s / self.busy)


class Transfer:
    """From one port to another; only `Transfers` changes it."""

    __slots__ = ("began_at_s", "byte_count", "left_bytes", "rate", "source", "target", "word")

    def __init__(self, source: Port, target: Port, byte_count: float, word: object, now_s: float) -> None:
        self.source = source
        self.target = target
        self.byte_count = self.left_bytes = byte_count
        self.word = word  # what its owner knows it by
        self.began_at_s = now_s
        self.rate = 0.0


class Transfers:
    """All of a simulation."""

    def __init__(self) -> None:
        self.next_at_s = inf  # when one has come in whole, if nothing changes before
        self._moving: list[Transfer] = []
        self._landing: list[tuple[float, int, Transfer]] = []  # all bytes are sent: a heap, by when the last one is in
        self._order = 0
        self._at_s = 0.0

    def __len__(self) -> int:
        return len(self._moving) + len(self._landing)

    def start(self, source: Port, target: Port, byte_count: float, word: object, now_s: float) -> Transfer:
        """One more; the others through its ports become slower."""
        self._pass(now_s)
        transfer = Transfer(source, target, byte_count, word, now_s)
        source.busy += 1
        target.busy += 1
        self._moving.append(transfer)
        self._share_out()
        return transfer

    def cancel(self, transfer: Transfer, now_s: float) -> None:
        """Nobody waits for it any more."""
        self._pass(now_s)
        if transfer in self._moving:
            self._leave(transfer)
        else:
            self._landing = sorted(one for one in self._landing if one[2] is not transfer)
        self._share_out()

    def change_speeds(self, now_s: float) -> None:
        """To be called with what has passed before a port is throttled, and again after."""
        self._pass(now_s)
        self._share_out()

    def take_ended(self, now_s: float) -> list[Transfer]:
        """Those that have come in whole."""
        self._pass(now_s)
        ended = []
        while self._landing and self._landing[0][0] <= now_s:
            ended.append(heappop(self._landing)[2])
        self._share_out()
        return ended

    def _pass(self, now_s: float) -> None:
        passed_s, self._at_s = now_s - self._at_s, now_s
        for transfer in tuple(self._moving):
            transfer.left_bytes -= transfer.rate * passed_s
            # What is left after rounding would take no time that a clock could tell apart.
            if transfer.left_bytes <= max(ROUNDING_BYTES, transfer.rate * 1e-9):
                self._leave(transfer)
                self._order += 1
                latency_s = max(transfer.source.latency_s, transfer.target.latency_s)
                heappush(self._landing, (now_s + latency_s, self._order, transfer))

    def _leave(self, transfer: Transfer) -> None:
        self._moving.remove(transfer)
        for port in (transfer.source, transfer.target):
            port.busy -= 1
            port.bytes_moved += transfer.byte_count - max(0.0, transfer.left_bytes)

    def _share_out(self) -> None:
        """Every port shares evenly what it has; the slower end of a transfer sets its pace."""
        next_at_s = self._landing[0][0] if self._landing else inf
        for transfer in self._moving:
            transfer.rate = min(transfer.source.share_bytes_per_s, transfer.target.share_bytes_per_s)
            if transfer.rate > 0.0:
                next_at_s = min(next_at_s, self._at_s + transfer.left_bytes / transfer.rate)
        self.next_at_s = next_at_s
