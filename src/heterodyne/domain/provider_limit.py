"""What a provider says, with an answer, of how much of its rate limits is left."""

from typing import NamedTuple

REQUESTS = "requests"
TOKENS = "tokens"
INPUT_TOKENS = "input_tokens"
OUTPUT_TOKENS = "output_tokens"


class ProviderLimit(NamedTuple):
    """One limit of an account, as it stood when the answer began."""

    what: str  # of the words above
    remaining: float
    limit: float | None = None  # None: it does not say
    reset_s: float | None = None  # until all of it is back; None: it does not say


class ToldLimits(NamedTuple):
    """All that one answer says."""

    limits: tuple[ProviderLimit, ...] = ()
    retry_after_s: float | None = None  # None: it does not ask us to wait
