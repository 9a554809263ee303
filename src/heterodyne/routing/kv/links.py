"""How fast KV moves between two pools, or from a store to one, and how often it does not arrive: begun with, learned.

A transfer takes a latency and a time per byte. What it took is held against both, each by its part in what was
expected: short transfers teach the first, long ones the second. What makes a link look slow is slowly forgotten, and a
failure is soon: otherwise nobody would ever see that it has recovered.
"""

from collections.abc import Callable
from math import exp, log
from typing import Final, final

LINKS_MAX: Final = 4096
GAIN_SLOWER: Final = 0.5  # how far one transfer moves the estimate, in logarithms: bad news at once,
GAIN_FASTER: Final = 0.25  # good news twice
OFF_MAX: Final = 100.0  # times what was expected, that one transfer counts for
FORGOTTEN_S: Final = 300.0  # after which half of what makes it slow is
MARGIN: Final = 0.1  # a transfer that is no quicker than this says is not worth having
DOUBT: Final = 0.3  # the same on top, of a link that nothing was heard of
FAILURE_FORGOTTEN_S: Final = 60.0
TRUSTED: Final = 4.0  # transfers that a link is thought to have had before the first,
TRUSTED_SHARE: Final = 0.01  # of which so many failed
SUCCESSES_MAX: Final = 50.0
PAUSE_S: Final = 2.0  # after a failure; twice as long after the next
PAUSE_MAX_S: Final = 60.0


@final
class KvLink:
    """One direction between two ends."""

    __slots__ = (
        *("_byte_s", "_failed_at_s", "_failures", "_heard_at_s", "_in_a_row", "_latency_s", "_slow_byte"),
        *("_slow_latency", "_successes", "begun", "failed", "paused_until_s", "samples"),
    )

    def __init__(self, latency_s: float, byte_s: float) -> None:
        """What it is thought to take before anything was moved over it."""
        self._latency_s = latency_s
        self._byte_s = byte_s
        self._slow_latency = 0.0  # logarithms of how much slower than that it is
        self._slow_byte = 0.0
        self._heard_at_s = 0.0
        self._successes = 0.0
        self._failures = 0.0
        self._failed_at_s = 0.0
        self._in_a_row = 0
        self.begun = 0  # transfers, whatever became of them
        self.samples = 0  # of them, those that were timed
        self.failed = 0
        self.paused_until_s = 0.0  # it is left alone until then

    def takes_s(self, byte_count: float, now_s: float) -> float:
        """So many bytes, alone on it."""
        latency_s, byte_s = self.speed(now_s)
        return latency_s + byte_count * byte_s

    def bytes_s(self, byte_count: float, now_s: float) -> float:
        """The same without what any transfer takes: how long others wait for these."""
        return byte_count * self.speed(now_s)[1]

    def margin(self) -> float:
        """The share of its time by which it must be better than what it replaces."""
        return MARGIN + DOUBT / (1.0 + self.samples)

    def failing(self, now_s: float) -> float:
        """The chance that a transfer does not arrive."""
        failures = self._failures * _left(now_s - self._failed_at_s, FAILURE_FORGOTTEN_S)
        return (failures + TRUSTED * TRUSTED_SHARE) / (failures + self._successes + TRUSTED)

    def hear(self, byte_count: float, took_s: float, now_s: float, *, queued_s: float = 0.0) -> None:
        """A transfer has arrived; it had to wait so long for those before it."""
        latency_s, byte_s = self.speed(now_s)
        alone_s = latency_s + byte_count * byte_s
        off = log(min(OFF_MAX, max(1.0 / OFF_MAX, took_s / max(1e-6, alone_s + queued_s))))
        gain = GAIN_SLOWER if off > 0.0 else GAIN_FASTER
        if self.samples < 2:
            gain = 1.0 / (1.0 + self.samples)
        share = latency_s / alone_s if alone_s > 0.0 else 1.0
        self._slow_latency = self._faded(self._slow_latency, now_s) + gain * share * off
        self._slow_byte = self._faded(self._slow_byte, now_s) + gain * (1.0 - share) * off
        self._heard_at_s = now_s
        self.samples += 1
        self._in_a_row = 0
        self.paused_until_s = 0.0
        if self._successes < SUCCESSES_MAX:
            self._successes += 1.0

    def hear_failure(self, now_s: float) -> None:
        """A transfer did not arrive."""
        self._failures = 1.0 + self._failures * _left(now_s - self._failed_at_s, FAILURE_FORGOTTEN_S)
        self._failed_at_s = now_s
        self.failed += 1
        self._successes *= 0.5
        pause_s = PAUSE_S * 2.0 ** min(self._in_a_row, 10)
        self.paused_until_s = now_s + (pause_s if pause_s < PAUSE_MAX_S else PAUSE_MAX_S)
        self._in_a_row += 1

    def speed(self, now_s: float) -> tuple[float, float]:
        """A latency, and a time per byte."""
        if not self.samples:
            return self._latency_s, self._byte_s
        return (
            self._latency_s * exp(self._faded(self._slow_latency, now_s)),
            self._byte_s * exp(self._faded(self._slow_byte, now_s)),
        )

    def _faded(self, slow: float, now_s: float) -> float:
        """A link that is quicker than was thought is used, and so stays known."""
        return slow if slow <= 0.0 else slow * _left(now_s - self._heard_at_s, FORGOTTEN_S)


PriorOf = Callable[[str, str], tuple[float, float]]  # latency and seconds per byte, by source and target


class KvLinks:
    """All of them, by source and target: names of pools, or of what `store_end` and `HOST_END` say."""

    __slots__ = ("_links", "_prior_of")

    def __init__(self, prior_of: PriorOf) -> None:
        self._prior_of = prior_of
        self._links: dict[tuple[str, str], KvLink] = {}

    def link(self, source: str, target: str) -> KvLink:
        """The one between these, which begins as it is thought to be."""
        link = self._links.get((source, target))
        if link is None:
            if len(self._links) >= LINKS_MAX:
                del self._links[next(iter(self._links))]
            link = self._links[source, target] = KvLink(*self._prior_of(source, target))
        return link

    def hear(self, source: str, target: str, byte_count: float, took_s: float, now_s: float) -> None:
        """So many bytes have arrived, alone on the link."""
        self.link(source, target).hear(byte_count, took_s, now_s)

    def hear_failure(self, source: str, target: str, now_s: float) -> None:
        """Nothing has arrived."""
        self.link(source, target).hear_failure(now_s)

    def forget(self, pools: set[str]) -> None:
        """Of those that go to other pools than these nothing is remembered."""
        self._links = {ends: link for ends, link in self._links.items() if ends[1] in pools}

    def snapshot(self) -> dict[tuple[str, str], KvLink]:
        """What is known of each that was asked for."""
        return dict(self._links)


HOST_END: Final = "host memory"  # a replica's own


def store_end(store: str) -> str:
    """What a store goes by among pools, whose names hold no space."""
    return f"store {store}"


def _left(seconds: float, half_life_s: float) -> float:
    return 1.0 if seconds <= 0.0 else pow(0.5, seconds / half_life_s)
