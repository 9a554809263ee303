"""How long one decode step and one prompt take on a placement, at a profile's prices."""

from msgspec import Struct

from heterodyne.physics.placement import Placement
from heterodyne.physics.prices import Prices
from heterodyne.physics.terms import decode_terms, prefill_terms


class Speculation(Struct, frozen=True, kw_only=True):
    """A draft that guesses ahead; `acceptance` is the chance that one guess is right."""

    draft_tokens: int
    acceptance: float
    draft_share: float = 0.05  # time of one drafted token, as a share of a plain step

    def accepted_tokens(self) -> float:
        """Tokens that one verified step yields on average: the run of right guesses and one more."""
        if self.acceptance >= 1.0:
            return self.draft_tokens + 1.0
        return float((1 - self.acceptance ** (self.draft_tokens + 1)) / (1 - self.acceptance))


def decode_step_s(placement: Placement, prices: Prices, *, batch: float, context: float) -> float:
    """One token more for every running sequence."""
    return prices.seconds(decode_terms(placement, batch, context))


def inter_token_s(
    placement: Placement,
    prices: Prices,
    *,
    batch: float,
    context: float,
    speculation: Speculation | None = None,
) -> float:
    """Time between two tokens of one sequence, no prompts in between."""
    if speculation is None:
        return decode_step_s(placement, prices, batch=batch, context=context)
    guesses = speculation.draft_tokens
    verified = prices.seconds(decode_terms(placement, batch, context, tokens_per_sequence=guesses + 1.0))
    drafted = guesses * speculation.draft_share * decode_step_s(placement, prices, batch=batch, context=context)
    return (verified + drafted) / speculation.accepted_tokens()


def prefill_s(
    placement: Placement, prices: Prices, *, tokens: float, cached: float = 0.0, chunk_tokens: int = 8192
) -> float:
    """One prompt alone on the replica."""
    return prices.seconds(prefill_terms(placement, tokens, cached=cached, chunk_tokens=chunk_tokens))
