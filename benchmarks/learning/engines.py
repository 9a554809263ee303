"""Engines that are nothing like what physics says of them, and the loads they are asked at."""

from msgspec import Struct

from benchmarks.learning.engine import Costs
from heterodyne.routing.prediction.prior import Prior

# Roughly Llama 3.1 8B on an H100, as physics has it.
PRIOR = Prior(
    fixed_s=0.01,
    prompt_s=0.004,
    prompt_token_s=2.5e-5,
    prompt_token_squared_s=0.0,
    step_s=0.007,
    sequence_s=4e-5,
    context_token_s=5e-8,
    slots=256,
    kv_tokens=400_000,
    doubt=0.3,
)
PROMPT_TOKENS = 500  # the median; four in ten are twice as long or half as long, or more
OUTPUT_TOKENS = 100  # the mean
SLOTS = 32
LEARNED = 100  # answers after which forecasts should be right
CHANGED = 50  # answers after a change, the same


class Strange(Struct, frozen=True, kw_only=True):
    """By how much each part is off."""

    name: str
    ahead: float = 1.0
    step: float = 1.0
    sequence: float = 1.0
    context: float = 1.0
    prompt: float = 1.0

    @property
    def costs(self) -> Costs:
        """What its steps take."""
        return Costs(
            ahead_s=PRIOR.fixed_s * self.ahead,
            step_s=PRIOR.step_s * self.step,
            sequence_s=PRIOR.sequence_s * self.sequence,
            context_token_s=PRIOR.context_token_s * self.context,
            prompt_token_s=PRIOR.prompt_token_s * self.prompt,
            slots=SLOTS,
        )


ENGINES = (
    Strange(name="as physics says"),
    Strange(name="all parts 3 x", ahead=3, step=3, sequence=3, context=3, prompt=3),
    Strange(name="fixed part 0.3 x, slope 10 x", step=0.3, sequence=10, context=10),
    Strange(name="fixed part 10 x, slope 0.3 x", step=10, sequence=0.3, context=0.3),
    Strange(name="slope 10 x", sequence=10),
    Strange(name="context 10 x", context=10),
    Strange(name="prompts 0.3 x, steps 3 x", step=3, prompt=0.3),
    Strange(name="bound by its host: fixed part 5 x, slope 50 x", ahead=8, step=5, sequence=50),
)


class Load(Struct, frozen=True, kw_only=True):
    """How requests come."""

    name: str
    share: float = 0.0  # of what the engine can do, by chance; 0: so many are always there
    at_once: int = 0


LOADS = (
    Load(name="0.3", share=0.3),
    Load(name="0.6", share=0.6),
    Load(name="0.9", share=0.9),
    Load(name="8 at once", at_once=8),
    Load(name="saturated", at_once=SLOTS),
)


class Change(Struct, frozen=True, kw_only=True):
    """Half-way something is another."""

    name: str
    engine: Strange
    load: Load
    engine_after: Strange
    load_after: Load


HOST = ENGINES[-1]
CHANGES = (
    Change(
        name="bound by its host: batches of 8, then of 32",
        engine=HOST,
        load=LOADS[3],
        engine_after=HOST,
        load_after=LOADS[4],
    ),
    Change(
        name="as physics says: batches of 8, then of 32",
        engine=ENGINES[0],
        load=LOADS[3],
        engine_after=ENGINES[0],
        load_after=LOADS[4],
    ),
    Change(
        name="all parts 3 x as slow, 8 at once",
        engine=ENGINES[0],
        load=LOADS[3],
        engine_after=ENGINES[1],
        load_after=LOADS[3],
    ),
    Change(
        name="slope 10 x, saturated",
        engine=ENGINES[0],
        load=LOADS[4],
        engine_after=ENGINES[4],
        load_after=LOADS[4],
    ),
)
