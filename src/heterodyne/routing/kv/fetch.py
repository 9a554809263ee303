"""Pure: KV that another replica of the pool holds: fetched over the link between them, or computed again.

A decision asks this of many replicas, so it is a comparison of two straight lines and no more.
"""

from math import inf

from heterodyne.routing.prediction.prior import Prior

TOKENS_MIN = 1024  # the shortest prefix with a measured gain is twice this
SETUP_S = 0.026  # of a fetch between two H200 hosts over NIXL and host memory, whatever its length
MARGIN = 0.1  # a fetch that fails costs a recompute besides


def fetch_s(prior: Prior, pace: float, *, own_tokens: float, held_tokens: float) -> float:
    """Time to fetch what another holds beyond the replica's own; infinite where computing it is as good.

    `pace` is how many times the prior prompts take there.
    """
    missing = held_tokens - own_tokens
    if prior.kv_fetch_token_s == inf or missing < TOKENS_MIN:
        return inf
    takes_s = SETUP_S + missing * prior.kv_fetch_token_s
    again_s = pace * missing * (prior.prompt_token_s + prior.prompt_token_squared_s * (held_tokens + own_tokens))
    return takes_s if takes_s * (1.0 + MARGIN) < again_s else inf


def reachable(prior: Prior, pace: float, *, own_tokens: float, held_tokens: float) -> tuple[float, float]:
    """Tokens that the replica need not compute, and the time to fetch those that are not its own."""
    link_s = fetch_s(prior, pace, own_tokens=own_tokens, held_tokens=held_tokens)
    return (held_tokens, link_s) if link_s < inf else (own_tokens, 0.0)
