"""Pure: how long a first token usually takes in a pool, as a straight line over prompt tokens that forgets.

Enough to tell late from usual before anything better is known of the pool.
"""

FORGETTING = 0.99  # what a sample counts for when the next has come
SAMPLES_MIN = 8.0


class ExpectedTtft:
    """Weighted least squares, kept as five sums."""

    __slots__ = ("_count", "_s", "_token_s", "_tokens", "_tokens_squared")

    def __init__(self) -> None:
        self._count = self._tokens = self._tokens_squared = self._s = self._token_s = 0.0

    def learn(self, tokens: int, ttft_s: float) -> None:
        """A first token came."""
        self._count = self._count * FORGETTING + 1.0
        self._tokens = self._tokens * FORGETTING + tokens
        self._tokens_squared = self._tokens_squared * FORGETTING + tokens * tokens
        self._s = self._s * FORGETTING + ttft_s
        self._token_s = self._token_s * FORGETTING + tokens * ttft_s

    def expect_s(self, tokens: int) -> float:
        """For a prompt of this length; 0 while too little is known."""
        count = self._count
        if count < SAMPLES_MIN:
            return 0.0
        mean_tokens, mean_s = self._tokens / count, self._s / count
        spread = self._tokens_squared / count - mean_tokens * mean_tokens
        if spread <= 1e-9 * self._tokens_squared:
            return mean_s
        # More tokens never take less time, and no time is below zero.
        slope = max(0.0, (self._token_s / count - mean_tokens * mean_s) / spread)
        return max(0.0, mean_s + slope * (tokens - mean_tokens))
