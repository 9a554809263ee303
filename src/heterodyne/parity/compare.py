"""Two ways to run one model, position by position."""

import math
from collections.abc import Mapping, Sequence

from heterodyne.domain.parity import ParityMeasures
from heterodyne.parity.scored_token import ScoredToken, Token

LEAST = 1e-9  # of what is left for all other tokens: both round, and the rest of one may come out below nothing
Pair = tuple[ScoredToken, ScoredToken]  # the reference's first


def compare(texts: Sequence[Pair], *, tie_nats: float, continuations: Sequence[Sequence[Pair]] = ()) -> ParityMeasures:
    """Of texts that both were given, and of continuations that the candidate wrote and the reference was then given.

    Where their likeliest tokens differ, it is a near-tie if the reference preferred its own by `tie_nats` or less.
    """
    if not texts:
        raise ValueError("there is no position to compare")
    gaps = [preference(one, other.likeliest) for one, other in texts if one.likeliest != other.likeliest]
    divergences = [named_kl(one.top, other.top) for one, other in texts]
    splits = [split for pairs in continuations if (split := first_split(pairs)) is not None]
    first, gap = min(splits, key=lambda split: split[0], default=(None, None))
    return ParityMeasures(
        positions=len(texts),
        top1_agreement=1 - len(gaps) / len(texts),
        unexplained_share=sum(gap is None or gap > tie_nats for gap in gaps) / len(texts),
        kl_nats=sum(divergences) / len(texts),
        kl_worst_nats=max(divergences),
        perplexity=perplexity([other for _, other in texts]),
        reference_perplexity=perplexity([one for one, _ in texts]),
        continued_tokens=sum(len(pairs) for pairs in continuations),
        first_split=first,
        first_split_gap_nats=gap,
    )


def named_kl(reference: Mapping[Token, float], candidate: Mapping[Token, float]) -> float:
    """KL(reference || candidate) by the tokens that the reference names, all others taken as one: a lower bound.

    Of a token that the candidate does not name, no more is known than that it is none of its likeliest.
    """
    least = min(candidate.values(), default=0.0)
    total, left, other_left = 0.0, 1.0, 1.0
    for token, logprob in reference.items():
        share, other = math.exp(logprob), candidate.get(token)
        total += share * (logprob - (least if other is None else other))
        left -= share
        other_left -= 0.0 if other is None else math.exp(other)
    left, other_left = max(left, LEAST), max(other_left, LEAST)
    return max(0.0, total + left * math.log(left / other_left))


def preference(step: ScoredToken, token: Token) -> float | None:
    """By how many nats the likeliest token is before `token`; None: further than was named."""
    found = step.top.get(token)
    return None if found is None else step.top[step.likeliest] - found


def first_split(pairs: Sequence[Pair]) -> tuple[int, float | None] | None:
    """How many tokens were written before one that the reference would not write, and how much it preferred its own."""
    for index, (one, other) in enumerate(pairs):
        if one.likeliest != other.token:
            return index, preference(one, other.token)
    return None


def perplexity(steps: Sequence[ScoredToken]) -> float:
    """Of the tokens that stand there."""
    return math.exp(-sum(step.logprob for step in steps) / len(steps))
