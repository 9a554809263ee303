"""Pure: what a replica costs, and what one request costs there: for forecasts, bills and recovered bills alike."""

from msgspec import Struct

HOUR_S = 3600.0


class Price(Struct, frozen=True, kw_only=True):
    """What a replica costs: by the hour where it is ours, by the token where it is hosted. None: nobody says.

    Tokens of the prompt that a cache had, or that were written to one, cost as others do where nobody says.
    """

    usd_per_hour: float | None = None
    usd_per_million_prompt_tokens: float | None = None
    usd_per_million_completion_tokens: float | None = None
    usd_per_million_cached_tokens: float | None = None
    usd_per_million_cache_write_tokens: float | None = None
    # A prompt of more tokens than these has all of its request billed by the prices below, where they are given.
    long_prompt_tokens: int | None = None
    long_usd_per_million_prompt_tokens: float | None = None
    long_usd_per_million_completion_tokens: float | None = None
    long_usd_per_million_cached_tokens: float | None = None
    long_usd_per_million_cache_write_tokens: float | None = None

    @property
    def is_by_token(self) -> bool:
        """Whether every request is billed on its own."""
        return self.usd_per_million_prompt_tokens is not None or self.usd_per_million_completion_tokens is not None

    @property
    def is_plain(self) -> bool:
        """Whether all prompt tokens cost the same, however many there are."""
        return (
            self.usd_per_million_cached_tokens is None
            and self.usd_per_million_cache_write_tokens is None
            and self.long_prompt_tokens is None
        )

    def usd(
        self,
        prompt_tokens: float,
        completion_tokens: float,
        replica_s: float,
        cached_tokens: float = 0.0,
        cache_write_tokens: float = 0.0,
    ) -> float | None:
        """What one request costs, by its tokens or by its share of the replica's time; None: the price is not known.

        Cached tokens and those written to a cache are among those of the prompt.
        """
        if not self.is_by_token:
            return None if self.usd_per_hour is None else self.usd_per_hour / HOUR_S * replica_s
        prompt_usd, completion_usd, cached_usd, write_usd = self._rates(prompt_tokens)
        cached = min(max(0.0, cached_tokens), prompt_tokens)
        written = min(max(0.0, cache_write_tokens), prompt_tokens - cached)
        plain = prompt_tokens - cached - written
        return (
            plain * prompt_usd + cached * cached_usd + written * write_usd + completion_tokens * completion_usd
        ) / 1e6

    def plain(self, prompt_tokens: float, cached_tokens: float) -> "Price":
        """The plain price by which a request with such a prompt costs the same; any other where it is plain already."""
        if self.is_plain or not self.is_by_token:
            return self
        prompt_usd, completion_usd, _, _ = self._rates(prompt_tokens)
        if prompt_tokens > 0:
            prompt_usd = (self.usd(prompt_tokens, 0.0, 0.0, cached_tokens) or 0.0) / prompt_tokens * 1e6
        return Price(usd_per_million_prompt_tokens=prompt_usd, usd_per_million_completion_tokens=completion_usd)

    def _rates(self, prompt_tokens: float) -> tuple[float, float, float, float]:
        """Of a million tokens: of the prompt, of the answer, cached, and written to a cache."""
        prompt, completion = self.usd_per_million_prompt_tokens or 0.0, self.usd_per_million_completion_tokens or 0.0
        cached = _first(self.usd_per_million_cached_tokens, prompt)
        write = _first(self.usd_per_million_cache_write_tokens, prompt)
        if self.long_prompt_tokens is None or prompt_tokens <= self.long_prompt_tokens:
            return prompt, completion, cached, write
        long_prompt = _first(self.long_usd_per_million_prompt_tokens, prompt)
        return (
            long_prompt,
            _first(self.long_usd_per_million_completion_tokens, completion),
            # Where nobody says what is cached of a long prompt, it costs what it does of a short one, if that is known.
            _first(self.long_usd_per_million_cached_tokens, _first(self.usd_per_million_cached_tokens, long_prompt)),
            _first(
                self.long_usd_per_million_cache_write_tokens,
                _first(self.usd_per_million_cache_write_tokens, long_prompt),
            ),
        )


def _first(usd: float | None, other: float) -> float:
    return other if usd is None else usd
