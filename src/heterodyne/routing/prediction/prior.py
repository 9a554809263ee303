"""Pure: what physics says of one replica, as the few numbers that a prediction multiplies.

Step times are linear in sequences and their context, prompts in tokens and, for attention, in their square. Mixtures
and windowed attention bend a little; the straight line through usual loads is near enough for what the learner mends.
"""

from math import inf

from msgspec import Struct

from heterodyne.physics.replica.job import Scheduling
from heterodyne.physics.replica.step_clock import PromptChunk, StepClock

FEW, MANY = 8, 64  # sequences between which the step is a straight line
CONTEXT_TOKENS = 1024
SHORT, MIDDLE, LONG = 512, 2048, 8192  # prompts through which the parabola goes


class Prior(Struct, frozen=True, kw_only=True):
    """Seconds of one replica with nothing learned yet."""

    fixed_s: float  # before an engine's scheduler sees a request
    ahead_share: float = 0.0  # the same for its prompt, as a share of the time that takes
    prompt_s: float  # of any prompt, however short
    prompt_token_s: float
    prompt_token_squared_s: float
    step_s: float  # of a decode step, whatever is in it
    sequence_s: float  # more for each sequence
    context_token_s: float  # more for each token they hold
    step_tokens: int = 8192  # of prompts in one step
    slots: int = 256
    kv_tokens: float = inf
    mixes_prompts: bool = True  # prompts and decoding share steps
    kv_token_bytes: float = 0.0  # of KV, of one token, on all chips; 0: not known
    kv_link_bytes_per_s: float = 0.0  # into and out of one replica; 0: not known
    kv_fetch_token_s: float = (
        inf  # to bring one token's KV from another replica of the pool, which engines do by themselves
    )
    doubt: float = 0.3  # how far off a factor may well be

    def prompt_work_s(self, tokens: float, cached_tokens: float = 0.0) -> float:
        """One prompt alone."""
        new = tokens - cached_tokens
        return self.prompt_s + new * (self.prompt_token_s + self.prompt_token_squared_s * (tokens + cached_tokens))


# Where the hardware is not known: an ordinary replica of an ordinary model, and little faith in it.
UNKNOWN = Prior(
    fixed_s=0.05,
    prompt_s=0.005,
    prompt_token_s=1e-4,
    prompt_token_squared_s=0.0,
    step_s=0.02,
    sequence_s=2e-4,
    context_token_s=0.0,
    doubt=2.0,
)


def prior_of(clock: StepClock, scheduling: Scheduling, *, doubt: float = 0.3) -> Prior:
    """The straight lines through a step clock."""
    few, many = clock.decode_s(FEW, CONTEXT_TOKENS), clock.decode_s(MANY, CONTEXT_TOKENS)
    longer = clock.decode_s(FEW, 2 * CONTEXT_TOKENS)
    context_token_s = max(0.0, (longer - few) / (FEW * CONTEXT_TOKENS))
    sequence_s = max(0.0, (many - few) / (MANY - FEW) - context_token_s * CONTEXT_TOKENS)
    short, middle, long = (clock.chunks_s([PromptChunk(0, tokens)]) for tokens in (SHORT, MIDDLE, LONG))
    slope = (middle - short) / (MIDDLE - SHORT)
    squared = max(0.0, ((long - middle) / (LONG - MIDDLE) - slope) / (LONG - SHORT))
    token_s = max(0.0, slope - squared * (MIDDLE + SHORT))
    ahead_s = clock.ahead_s(1, 0)
    return Prior(
        fixed_s=ahead_s,
        ahead_share=max(0.0, (clock.ahead_s(LONG, 0) - ahead_s) / long),
        prompt_s=max(0.0, short - SHORT * (token_s + squared * SHORT)),
        prompt_token_s=token_s,
        prompt_token_squared_s=squared,
        step_s=max(1e-6, few - FEW * (sequence_s + context_token_s * CONTEXT_TOKENS)),
        sequence_s=sequence_s,
        context_token_s=context_token_s,
        step_tokens=scheduling.step_tokens,
        slots=scheduling.slots,
        kv_tokens=scheduling.kv_tokens,
        mixes_prompts=scheduling.mixes_prompts,
        doubt=doubt,
    )
