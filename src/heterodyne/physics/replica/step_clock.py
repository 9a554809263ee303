"""How long a step takes: the decoding sequences together, and the chunks of prompts beside them."""

from typing import NamedTuple

from heterodyne.physics.placement import Placement
from heterodyne.physics.profile import Profile
from heterodyne.physics.step_time import Speculation, inter_token_s, prefill_s
from heterodyne.physics.terms import Terms, prefill_terms

WHOLE = 1 << 40  # a chunk is one piece, however long it is


class Chunk(NamedTuple):
    """A piece of one prompt: tokens up to `end`, of which the first `start` are known."""

    start: int
    end: int


class StepClock:
    """Step times of one placement at a profile's prices."""

    __slots__ = ("_placement", "_prices", "_profile", "_speculation")

    def __init__(self, placement: Placement, profile: Profile, *, speculation: Speculation | None = None) -> None:
        self._placement = placement
        self._profile = profile
        self._prices = profile.prices
        self._speculation = speculation

    def decode_s(self, sequences: int, context_tokens: float) -> float:
        """One token for each of so many sequences with so many tokens each."""
        return inter_token_s(
            self._placement, self._prices, batch=sequences, context=context_tokens, speculation=self._speculation
        )

    def chunks_s(self, chunks: list[Chunk]) -> float:
        """Pieces of prompts in one pass: layers are launched and collectives begun once for all of them."""
        terms = [prefill_terms(self._placement, chunk.end, cached=chunk.start, chunk_tokens=WHOLE) for chunk in chunks]
        together = terms[0] if len(terms) == 1 else _one_pass(terms)
        return self._prices.seconds(together)

    def ahead_s(self, tokens: int, cached_tokens: int) -> float:
        """What passes before the scheduler sees a request: server, tokenizer, and what its prompt adds there."""
        first = self._profile.first_token
        own_s = prefill_s(self._placement, self._prices, tokens=tokens, cached=cached_tokens)
        return first.fixed_s + (first.prompt - 1.0) * own_s


def _one_pass(terms: list[Terms]) -> Terms:
    together = Terms(*map(sum, zip(*terms, strict=True)))
    return together._replace(hops=max(one.hops for one in terms), prompt_layers=max(one.prompt_layers for one in terms))
