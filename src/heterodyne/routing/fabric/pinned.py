"""KV that replicas have computed for others and keep until it is read, which is not free for new prompts meanwhile.

What nobody comes for stays until its lease ends. As far as this worker knows: it counts what it had computed itself.
"""

from typing import final


@final
class PinnedKv:
    """One per router; tokens, by the place of the replica that keeps them. Never more than the leases that run."""

    __slots__ = ("_held", "_left")

    def __init__(self) -> None:
        self._held: dict[int, float] = {}  # somebody is about to read it
        self._left: dict[int, list[tuple[float, float]]] = {}  # nobody is: when its lease ends, and tokens

    def hold(self, place: int, tokens: float) -> None:
        """A prompt has been computed for another replica."""
        self._held[place] = self._held.get(place, 0.0) + tokens

    def let_go(self, place: int, tokens: float) -> None:
        """It was read, or nobody waits for it any more."""
        left = self._held.get(place, 0.0) - tokens
        if left > 0.5:  # nothing is left of rounding
            self._held[place] = left
        else:
            self._held.pop(place, None)

    def leave(self, place: int, tokens: float, until_s: float) -> None:
        """Nobody will read it."""
        self._left.setdefault(place, []).append((until_s, tokens))

    def take_back(self, place: int, tokens: float, until_s: float) -> None:
        """Somebody has read it after all."""
        left = self._left.get(place)
        if left is not None and (until_s, tokens) in left:
            left.remove((until_s, tokens))
            if not left:
                del self._left[place]

    def tokens(self, place: int, now_s: float) -> float:
        """That are pinned there now."""
        left = self._left.get(place)
        if left is not None:
            left = [one for one in left if one[0] > now_s]
            if left:
                self._left[place] = left
            else:
                del self._left[place]
        held = self._held.get(place, 0.0)
        return held if not left else held + sum([tokens for _, tokens in left])

    def forget(self, place: int) -> None:
        """The replica of this place is gone, or has restarted."""
        self._held.pop(place, None)
        self._left.pop(place, None)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is pinned anywhere, leases that may be over apart."""
        return not self._held and not self._left
