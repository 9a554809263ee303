"""How much of one prompt each place holds: a few lengths, each of some places.

With hundreds of replicas that hold the same system prompt, a number for each of them would cost more than the decision.
"""

from collections.abc import Mapping
from typing import Final, final


@final
class PrefixMatches:
    """Of one prompt; `most_tokens` is what no place goes beyond, but for the only one that holds the longest part."""

    __slots__ = ("lengths", "lone_place", "lone_tokens", "most_tokens")

    def __init__(self, lengths: tuple[tuple[float, frozenset[int]], ...]) -> None:
        """From the shortest on; a place is where its longest length is."""
        self.lengths = lengths
        self.lone_place = -1  # which holds the longest part, as that of a conversation; -1: several do
        self.lone_tokens = 0.0
        self.most_tokens = 0.0
        if lengths:
            longest_tokens, holders = lengths[-1]
            if len(holders) > 1:
                self.most_tokens = longest_tokens
            else:
                (self.lone_place,) = holders
                self.lone_tokens = longest_tokens
                self.most_tokens = lengths[-2][0] if len(lengths) > 1 else 0.0

    @property
    def is_empty(self) -> bool:
        """Whether no place holds anything of it."""
        return not self.lengths

    @property
    def longest_tokens(self) -> float:
        """The most that any place holds."""
        return self.lengths[-1][0] if self.lengths else 0.0

    def tokens(self, place: int) -> float:
        """What this one holds."""
        if place == self.lone_place:
            return self.lone_tokens
        for tokens, holders in self.lengths:
            if place in holders:
                return tokens
        return 0.0

    def by_place(self) -> dict[int, float]:
        """For the places that hold any."""
        return {place: tokens for tokens, holders in self.lengths for place in holders}


NOTHING_CACHED: Final = PrefixMatches(())


def prefix_matches(by_place: Mapping[int, float]) -> PrefixMatches:
    """The same of tokens by place, all above 0."""
    places: dict[float, set[int]] = {}
    for place, tokens in by_place.items():
        places.setdefault(float(tokens), set()).add(place)
    return PrefixMatches(tuple((tokens, frozenset(places[tokens])) for tokens in sorted(places)))
