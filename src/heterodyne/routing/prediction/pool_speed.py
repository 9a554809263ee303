"""Pure: how fast the replicas of one pool are, from a prior and from every request that went there."""

from math import exp, inf

from msgspec import Struct

from heterodyne.routing.prediction.band import Band
from heterodyne.routing.prediction.corrector import Corrector
from heterodyne.routing.prediction.prior import Prior

HEAR_EVERY_S = 0.002  # five hundred samples a second are plenty
ANSWER_PRIOR, ANSWER_PACE = 256.0, 0.05
PROMPT_RATE_S = 5.0  # over which the share of time that prompts take is averaged
FIXED_MIN_S = 0.002  # so that a delay nobody expected can be learned at all
# First tokens scatter, and their parts come and go together; the pace of tokens tells its parts apart.
FIRST_COUPLING, LATER_COUPLING = 0.03, 0.002
FIRST_SCATTER, LATER_SCATTER = 0.2, 0.1
REFERENCE_BATCH = 32  # a token's share of a step is counted as in a batch of this size, whatever runs now


class PoolSpeed:
    """One per pool: the prior, how far off it has been found, and what follows, ready to be multiplied.

    TTFT is made of what happens before the scheduler, of prompts, and of others' steps in between; the time per token
    of the step itself, of what is in it, and of prompts in between.
    """

    __slots__ = (
        "_began_at_s",
        "_ended_at_s",
        "_first",
        "_fixed_s",
        "_later",
        "ahead",
        "ahead_s",
        "answer_tokens",
        "context_token_s",
        "heard_at_s",
        "itl_band",
        "prior",
        "prompt_at_s",
        "prompt_rate",
        "prompts",
        "prompts_between",
        "replicas",
        "sequence_s",
        "step_s",
        "steps",
        "token_share_s",
        "ttft_band",
        "ttft_band_waiting",
    )

    def __init__(self, prior: Prior) -> None:
        self.prior = prior
        self.replicas = 1
        self.answer_tokens = ANSWER_PRIOR  # of a usual answer
        self.prompt_rate = 0.0  # seconds of prompts a second, of all replicas, by the prior
        self.prompt_at_s = 0.0
        self.heard_at_s = -inf  # when a request last told something
        self._began_at_s = self._ended_at_s = -inf  # when answers last did that were learned from
        self._fixed_s = max(prior.fixed_s, FIXED_MIN_S)
        self._first = Corrector(prior.doubt, coupling=FIRST_COUPLING, scatter=FIRST_SCATTER)
        self._later = Corrector(prior.doubt, coupling=LATER_COUPLING, scatter=LATER_SCATTER)
        self.ttft_band = Band()
        self.ttft_band_waiting = Band()  # of requests that had to queue: they are harder to foresee
        self.itl_band = Band()
        self._settle()

    def add_prompt(self, work_s: float, now_s: float) -> None:
        """A replica has computed a prompt."""
        passed_s = now_s - self.prompt_at_s
        if passed_s > 0.0:
            self.prompt_rate *= exp(-passed_s / PROMPT_RATE_S)
            self.prompt_at_s = now_s
        self.prompt_rate += work_s / PROMPT_RATE_S

    def try_hear_first(self, now_s: float) -> bool:
        """Whether a first token that comes now is to be learned from: of very many a part says as much."""
        if now_s - self._began_at_s < HEAR_EVERY_S:
            return False
        self._began_at_s = self.heard_at_s = now_s
        return True

    def try_hear_later(self, now_s: float) -> bool:
        """The same of an answer that ends now."""
        if now_s - self._ended_at_s < HEAR_EVERY_S:
            return False
        self._ended_at_s = self.heard_at_s = now_s
        return True

    def learn_answer(self, tokens: int) -> None:
        """An answer was so long."""
        self.answer_tokens += ANSWER_PACE * (tokens - self.answer_tokens)

    def learn_first(self, work_s: float, backlog_s: float, steps_s: float, ttft_s: float) -> None:
        """A first token came, with this much before it."""
        prior = self.prior
        ahead_s = self._fixed_s + prior.ahead_share * work_s
        self._first.learn(ahead_s, work_s + backlog_s / self.prompts, steps_s, ttft_s)
        self._settle()

    def learn_later(self, batch_s: float, prompts_s: float, itl_s: float) -> None:
        """Tokens came at this pace, beside this batch and these prompts, both by the prior."""
        self._later.learn(self.prior.step_s, batch_s, prompts_s, itl_s)
        self._settle()

    @property
    def is_lost(self) -> bool:
        """Whether its predictions are no guide."""
        return self.ttft_band.is_lost and self.ttft_band_waiting.is_lost

    def snapshot(self) -> "PoolSpeedSnapshot":
        """What has been learned."""
        first, later = self._first, self._later
        return PoolSpeedSnapshot(
            ttft_factors=(first.first, first.second, first.third),
            itl_factors=(later.first, later.second, later.third),
            ttft_error_ratio=self.ttft_band.error,
            ttft_waiting_error_ratio=self.ttft_band_waiting.error,
            itl_error_ratio=self.itl_band.error,
            samples=self.ttft_band.samples + self.ttft_band_waiting.samples,
            is_lost=self.is_lost,
        )

    def _settle(self) -> None:
        prior, first, later = self.prior, self._first, self._later
        self.ahead_s = first.first * self._fixed_s
        self.ahead = first.first * prior.ahead_share
        self.prompts = first.second
        self.steps = first.third
        self.step_s = later.first * prior.step_s
        self.sequence_s = later.second * prior.sequence_s
        self.context_token_s = later.second * prior.context_token_s
        self.prompts_between = later.third
        self.token_share_s = self.step_s / REFERENCE_BATCH + self.sequence_s


class PoolSpeedSnapshot(Struct, frozen=True, kw_only=True):
    """For metrics and the explanation."""

    ttft_factors: tuple[float, float, float]
    itl_factors: tuple[float, float, float]
    ttft_error_ratio: float
    ttft_waiting_error_ratio: float
    itl_error_ratio: float
    samples: int
    is_lost: bool
