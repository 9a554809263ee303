"""Pure: what a request costs, and what a pool does while no request asks it anything.

- Hosted: by the tokens of the prompt, those of it that were cached or written to a cache, and of the answer.
- Own: `usd = usd_per_hour / 3600 x replica_s`, where `replica_s` is the share of a replica's time that it used.
- A pool over some days: `idle = paid - busy`; dollars per million tokens are `busy / tokens x 1e6` while it worked and
  `paid / tokens x 1e6` with what it cost while idle.

Sums are kept in whole millionths of a dollar, so that they add up in any order.
"""

from msgspec import Struct

from heterodyne.domain.price import Price
from heterodyne.domain.usage import GATEWAY_KILLED, FlightTerms, IdleRow, UsageEnding

MICRO = 1_000_000


class PoolCost(Struct, frozen=True, kw_only=True):
    """What a pool's dollars bought."""

    busy_share: float  # of the time its replicas were up; 1 where the times of requests add up to more
    idle_usd_micro: int  # paid for and not used; never below zero
    usd_per_million_tokens_busy: float | None  # None: it produced no token
    usd_per_million_tokens: float | None  # with what it cost while idle


def whole_micro(usd: float, remainder: float) -> tuple[int, float]:
    """Dollars as whole millionths, and the rest to pass in again with the next request.

    Many requests cost less than a millionth: rounded one by one they would be free. With the rest carried on, the sum
    is never off by more than one.
    """
    exact = usd * MICRO + remainder
    whole = int(exact // 1)
    return max(whole, 0), exact - whole


def killed_ending(terms: FlightTerms, delivered: int) -> UsageEnding:
    """The ending of a request whose worker died: what was delivered is billed, and nothing when nothing was."""
    prompt_tokens = terms.prompt_tokens if delivered else 0
    replica_s = terms.prompt_replica_s + delivered * terms.token_replica_s if delivered else 0.0
    price = Price(
        usd_per_hour=terms.usd_per_hour,
        usd_per_million_prompt_tokens=terms.usd_per_million_prompt_tokens,
        usd_per_million_completion_tokens=terms.usd_per_million_completion_tokens,
    )
    return UsageEnding(
        status=500,
        reason=GATEWAY_KILLED,
        prompt_tokens=prompt_tokens,
        completion_tokens=delivered,
        is_estimated=True,
        usd_micro=round((price.usd(prompt_tokens, delivered, replica_s) or 0.0) * MICRO),
        is_hosted_price=price.is_by_token,
        replica_s=replica_s,
    )


def pool_cost(row: IdleRow) -> PoolCost:
    """Busy and idle, apart and together."""
    return PoolCost(
        busy_share=min(1.0, row.busy_us / row.up_us) if row.up_us else 0.0,
        idle_usd_micro=max(row.paid_usd_micro - row.busy_usd_micro, 0),
        usd_per_million_tokens_busy=row.busy_usd_micro / row.tokens if row.tokens else None,
        usd_per_million_tokens=max(row.paid_usd_micro, row.busy_usd_micro) / row.tokens if row.tokens else None,
    )
