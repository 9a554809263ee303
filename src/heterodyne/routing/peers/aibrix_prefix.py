"""Pure: AIBrix `prefix-cache`: the best prefix match that is not far busier than the rest, while loads are even.

Running requests are those in flight from this router, and blocks are the chain's, not of 128 characters. The index
keeps as many tokens of a replica as that has KV memory for; how AIBrix bounds its own is not known here.
"""

from collections.abc import Sequence
from math import sqrt

from heterodyne.routing.ask import Ask
from heterodyne.routing.peers.prefix_book import PrefixBook
from heterodyne.routing.peers.ties import any_of, idlest_of
from heterodyne.routing.picker import Chance, Ended
from heterodyne.routing.seat import Seat

IMBALANCE_MAX = 8  # requests between the busiest and the idlest
DEVIATIONS_MAX = 1.0  # above the mean
TOKENS_MAX = 2_000_000.0  # where nobody says what a replica holds


class AibrixPrefix:
    """Affinity with two cliffs, in requests."""

    name = "aibrix-prefix"

    def __init__(self) -> None:
        self._book = PrefixBook()

    def pick(self, ask: Ask, seats: Sequence[Seat], now_s: float, chance: Chance) -> Seat:
        """The longest match among those that are not too busy; the idlest where there is none."""
        running = [seat.in_flight for seat in seats]
        if max(running) - min(running) > IMBALANCE_MAX:
            return idlest_of(seats, chance)
        mean = sum(running) / len(running)
        limit = mean + DEVIATIONS_MAX * sqrt(sum((load - mean) ** 2 for load in running) / len(running))
        matched = [
            tokens if load <= limit else 0
            for tokens, load in zip(self._book.matched(ask.chain, seats), running, strict=True)
        ]
        longest = max(matched)
        if not longest:
            return idlest_of(seats, chance)
        return any_of([seat for seat, tokens in zip(seats, matched, strict=True) if tokens == longest], chance)

    def on_start(self, ask: Ask, seat: Seat, now_s: float) -> None:
        """The prompt is held to be cached there from now on."""
        self._book.note(ask.chain, seat, min(TOKENS_MAX, seat.kv_tokens))

    def on_end(self, ask: Ask, seat: Seat, ended: Ended, now_s: float) -> None:
        """Requests in flight are counted by the seat."""
