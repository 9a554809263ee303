"""Pure: how fast the replicas of one pool are, from a prior and from every request that went there."""

from math import exp, inf
from typing import Final

from heterodyne.routing.prediction.band import Band
from heterodyne.routing.prediction.engine_slots import EngineSlots
from heterodyne.routing.prediction.patient_share import PatientShare
from heterodyne.routing.prediction.prior import Prior
from heterodyne.routing.prediction.regression import Regression
from heterodyne.routing.snapshots import PoolSpeedSnapshot

HEAR_EVERY_S: Final = 0.002  # five hundred samples a second are plenty
ANSWER_PRIOR: Final = 256.0
ANSWER_PACE: Final = 0.05
PROMPT_PACE: Final = 0.05
PROMPT_RATE_S: Final = 5.0  # over which the share of time that prompts take is averaged
FIXED_MIN_S: Final = 0.002  # so that a delay the prior lacks can be learned at all
REFERENCE_BATCH: Final = 32  # a token's share of a step is counted as in a batch of this size, whatever runs now

# Of what parts cost.
DOUBT_MIN: Final = 0.6  # of every prior: how a step grows with its batch is an engine's own, whatever the chip is
FIRST_NOISE: Final = 0.2  # first tokens scatter more than the pace of those after them
LATER_NOISE: Final = 0.1
# The parts of first tokens come and go together, and how much of a prompt is cached is not quite known; the pace of
# tokens tells its parts apart.
FIRST_PULL: Final = 0.01
LATER_PULL: Final = 0.002
# First tokens are late for many reasons that are none of their costs, and for a while at that.
FIRST_REGIME_DOUBT: Final = 0.1
LATER_REGIME_DOUBT: Final = 1.0
OFF_MAX: Final = 50.0  # times the prior that a cost may be, or a part of it
FLOOR: Final = 0.1  # of a cost: what doubt about it is relative to, where less of it is left
# Of a step's fixed part, for a sequence and for a token of context: an engine whose host is slow takes that long
# where the chip alone would take nothing.
SEQUENCE_FLOOR: Final = 0.005
CONTEXT_FLOOR: Final = 2e-6
SEQUENCE_MAX: Final = 1.0
CONTEXT_MAX: Final = 1e-3

Three = tuple[float, float, float]
Four = tuple[float, float, float, float]
Areas = tuple[float, float, float]  # sequences and context over time, and seconds of prompts


class ForecastTimes:
    """The parts of a forecast that measured times are held against, and that a replica's sums are kept by."""

    __slots__ = (
        *("backlog_s", "cached_tokens", "itl_high_s", "itl_low_s", "itl_s", "link_s", "room_s", "steps_s"),
        *("ttft_band", "ttft_high_s", "ttft_low_s", "ttft_s", "work_s"),
    )

    ttft_band: Band  # how far from `ttft_s` such requests lie
    ttft_s: float
    ttft_low_s: float  # nine times out of ten it is later
    ttft_high_s: float  # nine times out of ten it is sooner
    itl_s: float
    itl_low_s: float
    itl_high_s: float
    cached_tokens: float  # of the prompt, that the replica should have in memory
    work_s: float  # the rest of the prompt alone, by the prior
    steps_s: float  # steps of others that the prompt shares or waits for
    backlog_s: float  # until the prompts before it are done
    room_s: float  # until there is memory or a slot, where that is later
    link_s: float  # to fetch what another replica has of the prompt


class PoolSpeed:
    """One per pool: the prior, what has been found instead, and what follows, ready to be multiplied.

    TTFT is made of what happens before the scheduler, of prompts, and of others' steps in between; the time per token
    of the step itself, of each sequence in it, of their context, and of prompts in between.
    """

    __slots__ = (
        *("_began_at_s", "_ended_at_s", "_first", "_fixed_s", "_has_begun_from_others", "_later", "ahead", "ahead_s"),
        *("ahead_share_prior", "answer_tokens", "context_token_s", "heard_at_s", "heard_prompt_share"),
        *("itl_band", "key", "mixes_prompts", "patient_share", "prior", "prompt_at_s", "prompt_work_s"),
        *("prompt_rate", "prompt_s", "prompt_token_s", "prompt_token_squared_s", "prompts"),
        *("prompts_between", "replicas", "sequence_s", "slots", "step_s"),
        *("step_tokens", "steps", "token_share_s", "ttft_band", "ttft_band_waiting"),
    )

    def __init__(self, prior: Prior) -> None:
        self.prior = prior
        self.key = ""  # what the pool goes by in all gateways
        self._has_begun_from_others = False
        # The same numbers, for what is asked of every candidate and request: a field of a struct takes longer to read.
        self.prompt_s = prior.prompt_s
        self.prompt_token_s, self.prompt_token_squared_s = prior.prompt_token_s, prior.prompt_token_squared_s
        self.step_tokens, self.mixes_prompts = prior.step_tokens, prior.mixes_prompts
        self.ahead_share_prior = prior.ahead_share
        self.slots = EngineSlots()
        self.replicas = 1
        self.answer_tokens = ANSWER_PRIOR  # of a usual answer
        self.prompt_rate = 0.0  # seconds of prompts a second, of all replicas, by the prior
        self.prompt_at_s = 0.0
        self.prompt_work_s = 0.0  # of a usual prompt, by the prior
        self.heard_prompt_share = 0.0  # of one replica's time, that prompts of other workers take by their reports
        self.heard_at_s = -inf  # when a request was last learned from
        self._began_at_s = self._ended_at_s = -inf  # when answers last did that were learned from
        self._fixed_s = max(prior.fixed_s, FIXED_MIN_S)
        self._first, self._later = _first_tokens(prior), _later_tokens(prior)
        self.ttft_band = Band(prior.doubt)
        self.ttft_band_waiting = Band(prior.doubt)  # of requests that had to queue: they are harder to foresee
        self.itl_band = Band(prior.doubt)
        self.patient_share = PatientShare()
        self._settle()

    def on_first_token(self, forecast: ForecastTimes, ttft_s: float, decoding: int, now_s: float) -> None:
        """A first token came, and with it a prompt was computed; of very many a part is learned from.

        So many decode there now, of ours; 0 where there may be others.
        """
        if decoding >= self.slots.most:
            self.slots.on_full(decoding, ttft_s / forecast.ttft_s, now_s)
        self.add_prompt(forecast.work_s, now_s)
        if now_s - self._began_at_s >= HEAR_EVERY_S:
            self._began_at_s = self.heard_at_s = now_s
            self._learn_ttft(forecast, ttft_s)

    def try_hear_end(self, output_tokens: int, now_s: float) -> bool:
        """Whether a complete answer of so many tokens, which ends now, is to be learned from."""
        if now_s - self._ended_at_s < HEAR_EVERY_S:
            return False
        self._ended_at_s = self.heard_at_s = now_s
        if output_tokens:
            self.answer_tokens += ANSWER_PACE * (output_tokens - self.answer_tokens)
        return True

    def learn_pace(self, forecast: ForecastTimes, took_s: float, gaps: int, before: Areas, after: Areas) -> None:
        """Tokens came at this pace, beside what ran in the meantime."""
        if took_s <= 0.0:
            return
        sequences, context = (after[0] - before[0]) / took_s, (after[1] - before[1]) / took_s
        self.learn_later(sequences, context, (after[2] - before[2]) / gaps, took_s / gaps)
        self.itl_band.learn(forecast.itl_s, took_s / gaps, forecast.itl_low_s, forecast.itl_high_s)

    def learn_whole(
        self, forecast: ForecastTimes, total_s: float, output_tokens: int, sequences: float, context_tokens: float
    ) -> None:
        """An answer that came whole shows how long it took altogether: both its parts are thought to be off alike."""
        gaps = max(0, output_tokens - 1)
        off = total_s / (forecast.ttft_s + gaps * forecast.itl_s)
        self._learn_ttft(forecast, forecast.ttft_s * off)
        if gaps:
            self.learn_later(sequences, context_tokens, 0.0, forecast.itl_s * off)
            self.itl_band.learn(forecast.itl_s, forecast.itl_s * off, forecast.itl_low_s, forecast.itl_high_s)

    def add_prompt(self, work_s: float, now_s: float) -> None:
        """A replica has computed a prompt."""
        passed_s = now_s - self.prompt_at_s
        if passed_s > 0.0:
            self.prompt_rate *= exp(-passed_s / PROMPT_RATE_S)
            self.prompt_at_s = now_s
        self.prompt_rate += work_s / PROMPT_RATE_S
        self.prompt_work_s += PROMPT_PACE * (work_s - self.prompt_work_s)

    def learn_first(self, work_s: float, backlog_s: float, steps_s: float, ttft_s: float) -> None:
        """A first token came, with this much before it."""
        ahead_s = self._fixed_s + self.ahead_share_prior * work_s
        self._first.learn(ahead_s, work_s + backlog_s / self.prompts, steps_s, 0.0, ttft_s)
        self._settle()

    def learn_later(self, sequences: float, context_tokens: float, prompts_s: float, itl_s: float) -> None:
        """Tokens came at this pace, in a batch like this and beside these prompts, by the prior."""
        self._later.learn(1.0, sequences, context_tokens, prompts_s, itl_s)
        self._settle()

    def share_s(self, prompt_tokens: int, cached_tokens: int, answer_tokens: int) -> float:
        """What a request takes of a replica's time, by its tokens: the steps of its answer are shared by a batch."""
        new, context = prompt_tokens - cached_tokens, prompt_tokens + 0.5 * answer_tokens
        token_s = self.prompt_token_s + self.prompt_token_squared_s * (prompt_tokens + cached_tokens)
        work_s = self.prompt_s + new * token_s
        return self.prompts * work_s + answer_tokens * (self.token_share_s + self.context_token_s * context)

    def try_begin_from(self, ttft_factors: Three, itl_factors: Four, answer_tokens: float) -> None:
        """What others have learned takes the place of the prior, once; doubt is left as it is, so that it is soon
        corrected where it does not hold here."""
        if self._has_begun_from_others:
            return
        self._has_begun_from_others = True
        prior = self.prior
        self._first.begin_from((*ttft_factors, 1.0))
        self._later.begin_from(
            (
                itl_factors[0] * prior.step_s,
                itl_factors[1] * max(prior.sequence_s, SEQUENCE_FLOOR * prior.step_s),
                itl_factors[2] * max(prior.context_token_s, CONTEXT_FLOOR * prior.step_s),
                itl_factors[3],
            )
        )
        self.answer_tokens = answer_tokens
        self._settle()

    @property
    def samples(self) -> int:
        """First tokens that were learned from."""
        return self.ttft_band.samples + self.ttft_band_waiting.samples

    @property
    def is_lost(self) -> bool:
        """Whether its predictions are no guide."""
        return self.ttft_band.is_lost and self.ttft_band_waiting.is_lost

    def snapshot(self) -> "PoolSpeedSnapshot":
        """What has been learned."""
        first, later, prior = self._first, self._later, self.prior
        return PoolSpeedSnapshot(
            ttft_factors=(first.first, first.second, first.third),
            itl_factors=(
                later.first / prior.step_s,
                later.second / max(prior.sequence_s, SEQUENCE_FLOOR * prior.step_s),
                later.third / max(prior.context_token_s, CONTEXT_FLOOR * prior.step_s),
                later.fourth,
            ),
            ttft_error_ratio=self.ttft_band.error,
            ttft_waiting_error_ratio=self.ttft_band_waiting.error,
            itl_error_ratio=self.itl_band.error,
            slots=self.slots.slots,
            samples=self.samples,
            covered=self.ttft_band.covered + self.ttft_band_waiting.covered,
            itl_samples=self.itl_band.samples,
            itl_covered=self.itl_band.covered,
            is_lost=self.is_lost,
        )

    def _learn_ttft(self, forecast: ForecastTimes, ttft_s: float) -> None:
        forecast.ttft_band.learn(forecast.ttft_s, ttft_s, forecast.ttft_low_s, forecast.ttft_high_s)
        # A request that waits for others to leave shows how long they take, not how fast prompts are.
        if not forecast.room_s:
            self.learn_first(forecast.work_s, forecast.backlog_s, forecast.steps_s, ttft_s - forecast.link_s)

    def _settle(self) -> None:
        first, later = self._first, self._later
        self.ahead_s = first.first * self._fixed_s
        self.ahead = first.first * self.ahead_share_prior
        self.prompts = first.second
        self.steps = first.third
        self.step_s, self.sequence_s, self.context_token_s = later.first, later.second, later.third
        self.prompts_between = later.fourth
        self.token_share_s = self.step_s / REFERENCE_BATCH + self.sequence_s


def _first_tokens(prior: Prior) -> Regression:
    """What a first token costs, in multiples of the prior; others' steps, in steps as long as they are found to be."""
    return Regression(
        (1.0, 1.0, 1.0, 1.0),
        floors=(FLOOR, FLOOR, FLOOR, FLOOR),
        least=(1.0 / OFF_MAX, 1.0 / OFF_MAX, 1.0 / OFF_MAX, 1.0 / OFF_MAX),
        most=(OFF_MAX, OFF_MAX, OFF_MAX, OFF_MAX),
        doubt=max(prior.doubt, DOUBT_MIN),
        noise=FIRST_NOISE,
        pull=FIRST_PULL,
        regime_doubt=FIRST_REGIME_DOUBT,
    )


def _later_tokens(prior: Prior) -> Regression:
    """What a token after the first costs: seconds of a step, a sequence and its context; prompts by the prior."""
    step_s, sequence_s, token_s = prior.step_s, prior.sequence_s, prior.context_token_s
    return Regression(
        (step_s, sequence_s, token_s, 1.0),
        floors=(FLOOR * step_s, SEQUENCE_FLOOR * step_s, CONTEXT_FLOOR * step_s, FLOOR),
        least=(step_s / OFF_MAX, 0.0, 0.0, 1.0 / OFF_MAX),
        most=(
            OFF_MAX * step_s,
            max(OFF_MAX * sequence_s, SEQUENCE_MAX * step_s),
            max(OFF_MAX * token_s, CONTEXT_MAX * step_s),
            OFF_MAX,
        ),
        doubt=max(prior.doubt, DOUBT_MIN),
        noise=LATER_NOISE,
        pull=LATER_PULL,
        regime_doubt=LATER_REGIME_DOUBT,
    )
