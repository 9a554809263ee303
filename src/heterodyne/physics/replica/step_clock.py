"""How long a step takes: the decoding sequences together, and the chunks of prompts beside them.

Times are linear in tokens, contexts and pairs of tokens: the coefficients are worked out once, those of a decode step
once for every size of the batch, and asked thousands of times.
"""

from typing import Final, final

from heterodyne.physics.placement import Placement
from heterodyne.physics.profile import Profile
from heterodyne.physics.step_time import Speculation, decode_step_s, inter_token_s, prefill_s
from heterodyne.physics.terms import NOTHING, decode_terms

# Engines compute a long prompt in pieces of this size, when it is alone.
ALONE_CHUNK_TOKENS: Final = 8192


@final
class PromptChunk:
    """A piece of one prompt: tokens up to `end`, of which the first `start` are known."""

    __slots__ = ("end", "start")

    def __init__(self, start: int, end: int) -> None:
        self.start = start
        self.end = end

    def __repr__(self) -> str:
        return f"PromptChunk({self.start}, {self.end})"


class StepClock:
    """Step times of one placement at a profile's prices; `slowdown` makes a replica slower than they say."""

    __slots__ = (
        "_ahead_fixed_s",
        "_ahead_multiple",
        "_decode",
        "_pair_s",
        "_pass_s",
        "_piece_s",
        "_placement",
        "_profile",
        "_slowdown",
        "_speculation",
        "_token_s",
        "_window_pair_s",
        "_window_tokens",
    )

    def __init__(
        self,
        placement: Placement,
        profile: Profile,
        *,
        speculation: Speculation | None = None,
        slowdown: float = 1.0,
    ) -> None:
        self._placement = placement
        self._profile = profile
        self._speculation = speculation
        self._window_tokens = placement.work.window_tokens
        first = profile.first_token
        self._ahead_fixed_s = first.fixed_s
        if first.steps_ahead:
            self._ahead_fixed_s += first.steps_ahead * decode_step_s(placement, profile.prices, batch=1.0, context=0.0)
        self._ahead_multiple = first.prompt - 1.0
        self.slow_down(slowdown)

    def slow_down(self, slowdown: float) -> None:
        """From the next step on, each takes so many times what the profile says."""
        placement, prices = self._placement, self._profile.prices
        work = placement.work
        self._slowdown = slowdown
        # By sequences: what is fixed, a context token of each of them, and what one within the window adds.
        self._decode: dict[int, tuple[float, float, float]] = {}
        once = NOTHING._replace(hops=placement.hop_s + placement.stage_hop_s, prompt_layers=work.launches)
        token = NOTHING._replace(
            exchange=placement.exchange_s_per_token,
            expert_compute=placement.expert_flops_s,
            prompt_compute=placement.prompt_flops_s,
            prompt_reduce=placement.reduce_s_per_token + placement.stage_s_per_token,
        )
        pair_s = slowdown * prices.prompt_compute * placement.attention_s_per_flop
        self._pass_s = slowdown * prices.seconds(once)
        self._token_s = slowdown * prices.seconds(token)
        self._piece_s = slowdown * prices.prompt_compute * placement.head_flops_s
        self._pair_s = pair_s * work.attention_flops_per_pair
        self._window_pair_s = pair_s * work.window_flops_per_pair

    def decode_s(self, sequences: int, context_tokens: float) -> float:
        """One token for each of so many sequences with so many tokens each."""
        known = self._decode.get(sequences)
        if known is None:
            known = self._decode[sequences] = self._coefficients(sequences)
        fixed_s, token_s, window_token_s = known
        if window_token_s:
            return fixed_s + token_s * context_tokens + window_token_s * min(context_tokens, self._window_tokens)
        return fixed_s + token_s * context_tokens

    def passes_s(self, passes: int, sequences: int, context_tokens: int) -> float:
        """So many passes in a row, from a batch with this much context; every context grows by one in each."""
        return passes * self.decode_s(sequences, context_tokens / sequences + (passes - 1) / 2)

    def passes_within(self, wanted_s: float, most: int, sequences: int, context_tokens: int) -> int:
        """The first pass that ends so much later or after; at least one, and `most` when none of those does."""
        if most == 1 or wanted_s <= 0.0:
            return 1
        mean = context_tokens / sequences
        # Later passes take longer, so at the pace of the first one there are too many.
        passes = min(most, int(wanted_s / self.decode_s(sequences, mean)) + 1)
        while passes > 1 and self.passes_s(passes - 1, sequences, context_tokens) >= wanted_s:
            # The pace of the last guess aims a little short, never far.
            pace_s = self.decode_s(sequences, mean + (passes - 1) / 2)
            passes = max(1, min(passes - 1, int(wanted_s / pace_s) + 1))
        while passes < most and self.passes_s(passes, sequences, context_tokens) < wanted_s:
            passes += 1
        return passes

    def chunks_s(self, chunks: list[PromptChunk]) -> float:
        """Pieces of prompts in one pass: layers are launched and collectives begun once for all of them."""
        seconds = self._pass_s
        for chunk in chunks:
            seconds += self._chunk_s(chunk.start, chunk.end)
        return seconds

    def ahead_s(self, tokens: int, cached_tokens: int) -> float:
        """What passes before the scheduler sees a request: server, tokenizer, and what its prompt adds there."""
        new = tokens - cached_tokens
        if 0 < new <= ALONE_CHUNK_TOKENS:
            own_s = self._pass_s + self._chunk_s(cached_tokens, tokens)
        else:
            own_s = self._slowdown * prefill_s(
                self._placement,
                self._profile.prices,
                tokens=tokens,
                cached=cached_tokens,
                chunk_tokens=ALONE_CHUNK_TOKENS,
            )
        return self._ahead_fixed_s + self._ahead_multiple * own_s

    def _chunk_s(self, start: int, end: int) -> float:
        new = end - start
        pairs = (end * end - start * start) / 2
        seconds = self._piece_s + new * self._token_s + pairs * self._pair_s
        if self._window_pair_s:
            seconds += self._window_pair_s * min(pairs, new * min(end, self._window_tokens))
        return seconds

    def _coefficients(self, sequences: int) -> tuple[float, float, float]:
        placement, prices, guess = self._placement, self._profile.prices, self._speculation
        fixed_s = inter_token_s(placement, prices, batch=sequences, context=0.0, speculation=guess)
        # Drafting reads the context too, and a verified step yields several tokens.
        reads = 1.0 if guess is None else (1.0 + guess.draft_tokens * guess.draft_share) / guess.accepted_tokens()
        running = decode_terms(placement, sequences, 0.0).sequences
        byte_s = self._slowdown * reads * prices.kv * running * placement.kv_s_per_byte
        work = placement.work
        return self._slowdown * fixed_s, byte_s * work.kv_bytes_per_token, byte_s * work.window_bytes_per_token
