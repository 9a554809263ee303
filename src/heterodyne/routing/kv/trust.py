"""How far one replica's part of the index is believed: its claims are scored against what the engine reports.

    said = index.insert(place, chain)            # when the request starts
    if trust.learn(...): index.forget(place)     # when it has ended whole

The factor multiplies the index's tokens and never exceeds 1, so no counter can talk a replica into holding more than
was sent to it.
"""

PRIOR = 0.7  # before anything is known, and for engines that report no cached tokens
GAIN = 0.2  # how far one answer moves the factor towards what it showed
GAIN_MAX = 0.8
MISS_BELOW = 0.05  # of the tokens the index spoke of
MISSES_TO_FORGET = 3  # in a row: the cache was reset without an event


class Trust:
    """One replica's factor, from 0 to 1."""

    __slots__ = ("_forgot_at_s", "_has_reported", "_misses", "factor")

    def __init__(self, prior: float = PRIOR) -> None:
        self.factor = prior
        self._has_reported = False
        self._misses = 0
        self._forgot_at_s = float("-inf")

    def learn(
        self, said_tokens: int, reported_tokens: int | None, prompt_tokens: int, *, started_s: float, now_s: float
    ) -> bool:
        """A whole answer has come. True: forget all the index has of this replica.

        `said_tokens` are those the index could prove when the request started: prompts that are still being computed
        do not count, or a burst of equal ones would look like a cache that fails.
        """
        if reported_tokens is None:
            # vLLM leaves the number out when it is zero, so an engine that has reported one before means zero.
            if not self._has_reported:
                return False
            reported_tokens = 0
        elif not 0 <= reported_tokens < prompt_tokens:
            return False  # a broken counter: an engine computes at least the last token, to have something to sample
        elif reported_tokens:
            self._has_reported = True
        if said_tokens <= 0 or started_s < self._forgot_at_s:
            return False
        return self._score(min(1.0, reported_tokens / said_tokens), now_s)

    def on_forgotten(self, now_s: float) -> None:
        """The replica's entries are gone; answers that were under way say nothing of those to come."""
        self._misses = 0
        self._forgot_at_s = now_s

    def _score(self, right: float, now_s: float) -> bool:
        # One miss may be an eviction and costs as much as one hit gives; each further one in a row weighs double.
        self._misses = self._misses + 1 if right < MISS_BELOW else 0
        gain = min(GAIN_MAX, GAIN * 2 ** max(0, self._misses - 1))
        self.factor += gain * (right - self.factor)
        if self._misses < MISSES_TO_FORGET:
            return False
        self.on_forgotten(now_s)
        return True
