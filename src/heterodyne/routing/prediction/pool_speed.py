"""Pure: how fast the replicas of one pool are, from a prior and from every request that went there."""

from math import exp, inf, log, pow
from typing import Final

from heterodyne.routing.prediction.prior import Prior
from heterodyne.routing.snapshots import PoolSpeedSnapshot

HEAR_EVERY_S: Final = 0.002  # five hundred samples a second are plenty
ANSWER_PRIOR: Final = 256.0
ANSWER_PACE: Final = 0.05
PROMPT_RATE_S: Final = 5.0  # over which the share of time that prompts take is averaged
FIXED_MIN_S: Final = 0.002  # so that a delay the prior lacks can be learned at all
# First tokens scatter, and their parts come and go together; the pace of tokens tells its parts apart.
FIRST_COUPLING: Final = 0.03
LATER_COUPLING: Final = 0.002
FIRST_SCATTER: Final = 0.2
LATER_SCATTER: Final = 0.1
REFERENCE_BATCH: Final = 32  # a token's share of a step is counted as in a batch of this size, whatever runs now

# Of the band.
TAIL: Final = 0.05  # outside, on either side
BAND_PACE: Final = 0.03  # how far one sample moves a quantile, in mean errors
QUIET_MAX: Final = 3.0 / TAIL  # samples that all lie within a quantile by chance; more show that it is too far out
ERROR_PACE: Final = 0.02
SPREAD_PRIOR: Final = 0.7  # log 2: before anything is known, half to twice
SPREAD_MIN: Final = 0.01
BAND_SAMPLES_MIN: Final = 30  # enough to guess the spread from the mean error, and to begin from there
SPREAD_OF_ERROR: Final = 2.06  # where errors are normal, the quantile lies so many mean errors out
RATIO_MAX: Final = 50.0
QUANTILE_LOGIT: Final = 2 * log(
    (1.0 - TAIL) / TAIL
)  # a logistic curve is so many scales wide between the two quantiles
STEEPNESS_MAX: Final = 30.0
ROOM_MAX: Final = 1e6  # from this ratio on nothing is missed, and no power overflows

# Of the corrector.
PROCESS_NOISE: Final = 0.03**2  # relative, squared: how far a factor may move from one request to the next
FACTOR_MIN: Final = 0.02
FACTOR_MAX: Final = 50.0
SURPRISE_MAX: Final = log(2.0)  # one sample is believed no further: what delays one request is not the pool's pace
SCATTER_PACE: Final = 0.02

Areas = tuple[float, float, float]  # sequences and context over time, and seconds of prompts


class ForecastTimes:
    """The parts of a forecast that measured times are held against, and that a replica's sums are kept by."""

    __slots__ = ("backlog_s", "cached_tokens", "itl_s", "link_s", "room_s", "steps_s", "ttft_band", "ttft_s", "work_s")

    ttft_band: "Band"  # how far from `ttft_s` such requests lie
    ttft_s: float
    itl_s: float
    cached_tokens: float  # of the prompt, that the replica should have in memory
    work_s: float  # the rest of the prompt alone, by the prior
    steps_s: float  # steps of others that the prompt shares or waits for, by the prior
    backlog_s: float  # until the prompts before it are done
    room_s: float  # until there is memory or a slot, where that is later
    link_s: float  # to fetch what another replica has of the prompt


class PoolSpeed:
    """One per pool: the prior, how far off it has been found, and what follows, ready to be multiplied.

    TTFT is made of what happens before the scheduler, of prompts, and of others' steps in between; the time per token
    of the step itself, of what is in it, and of prompts in between.
    """

    __slots__ = (
        *("_began_at_s", "_ended_at_s", "_first", "_fixed_s", "_later", "ahead", "ahead_s"),
        *("ahead_share_prior", "answer_tokens", "context_token_prior_s", "context_token_s", "heard_at_s"),
        *("itl_band", "mixes_prompts", "prior", "prompt_at_s"),
        *("prompt_rate", "prompt_s", "prompt_token_s", "prompt_token_squared_s", "prompts"),
        *("prompts_between", "replicas", "sequence_prior_s", "sequence_s", "step_prior_s", "step_s"),
        *("step_tokens", "steps", "token_share_s", "ttft_band", "ttft_band_waiting"),
    )

    def __init__(self, prior: Prior) -> None:
        self.prior = prior
        # The same numbers, for what is asked of every candidate and request: a field of a struct takes longer to read.
        self.prompt_s = prior.prompt_s
        self.prompt_token_s, self.prompt_token_squared_s = prior.prompt_token_s, prior.prompt_token_squared_s
        self.step_tokens, self.mixes_prompts = prior.step_tokens, prior.mixes_prompts
        self.step_prior_s, self.sequence_prior_s = prior.step_s, prior.sequence_s
        self.context_token_prior_s, self.ahead_share_prior = prior.context_token_s, prior.ahead_share
        self.replicas = 1
        self.answer_tokens = ANSWER_PRIOR  # of a usual answer
        self.prompt_rate = 0.0  # seconds of prompts a second, of all replicas, by the prior
        self.prompt_at_s = 0.0
        self.heard_at_s = -inf  # when a request was last learned from
        self._began_at_s = self._ended_at_s = -inf  # when answers last did that were learned from
        self._fixed_s = max(prior.fixed_s, FIXED_MIN_S)
        self._first = Corrector(prior.doubt, coupling=FIRST_COUPLING, scatter=FIRST_SCATTER)
        self._later = Corrector(prior.doubt, coupling=LATER_COUPLING, scatter=LATER_SCATTER)
        self.ttft_band = Band()
        self.ttft_band_waiting = Band()  # of requests that had to queue: they are harder to foresee
        self.itl_band = Band()
        self._settle()

    def on_first_token(self, forecast: ForecastTimes, ttft_s: float, now_s: float) -> None:
        """A first token came, and with it a prompt was computed; of very many a part is learned from."""
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

    def learn_pace(self, predicted_itl_s: float, took_s: float, gaps: int, before: Areas, after: Areas) -> None:
        """Tokens came at this pace, beside what ran in the meantime."""
        if took_s <= 0.0:
            return
        sequences, context = after[0] - before[0], after[1] - before[1]
        batch_s = (self.sequence_prior_s * sequences + self.context_token_prior_s * context) / took_s
        self.learn_later(batch_s, (after[2] - before[2]) / gaps, took_s / gaps)
        self.itl_band.learn(predicted_itl_s, took_s / gaps)

    def learn_whole(self, forecast: ForecastTimes, total_s: float, output_tokens: int, step_prior_s: float) -> None:
        """An answer that came whole shows how long it took altogether: both its parts are thought to be off alike."""
        gaps = max(0, output_tokens - 1)
        off = total_s / (forecast.ttft_s + gaps * forecast.itl_s)
        self._learn_ttft(forecast, forecast.ttft_s * off)
        if gaps:
            self.learn_later(max(0.0, step_prior_s - self.step_prior_s), 0.0, forecast.itl_s * off)
            self.itl_band.learn(forecast.itl_s, forecast.itl_s * off)

    def add_prompt(self, work_s: float, now_s: float) -> None:
        """A replica has computed a prompt."""
        passed_s = now_s - self.prompt_at_s
        if passed_s > 0.0:
            self.prompt_rate *= exp(-passed_s / PROMPT_RATE_S)
            self.prompt_at_s = now_s
        self.prompt_rate += work_s / PROMPT_RATE_S

    def learn_first(self, work_s: float, backlog_s: float, steps_s: float, ttft_s: float) -> None:
        """A first token came, with this much before it."""
        ahead_s = self._fixed_s + self.ahead_share_prior * work_s
        self._first.learn(ahead_s, work_s + backlog_s / self.prompts, steps_s, ttft_s)
        self._settle()

    def learn_later(self, batch_s: float, prompts_s: float, itl_s: float) -> None:
        """Tokens came at this pace, beside this batch and these prompts, both by the prior."""
        self._later.learn(self.step_prior_s, batch_s, prompts_s, itl_s)
        self._settle()

    def share_s(self, prompt_tokens: int, cached_tokens: int, answer_tokens: int) -> float:
        """What a request takes of a replica's time, by its tokens: the steps of its answer are shared by a batch."""
        new, context = prompt_tokens - cached_tokens, prompt_tokens + 0.5 * answer_tokens
        token_s = self.prompt_token_s + self.prompt_token_squared_s * (prompt_tokens + cached_tokens)
        work_s = self.prompt_s + new * token_s
        return self.prompts * work_s + answer_tokens * (self.token_share_s + self.context_token_s * context)

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

    def _learn_ttft(self, forecast: ForecastTimes, ttft_s: float) -> None:
        forecast.ttft_band.learn(forecast.ttft_s, ttft_s)
        # A request that waits for others to leave shows how long they take, not how fast prompts are.
        if not forecast.room_s:
            self.learn_first(forecast.work_s, forecast.backlog_s, forecast.steps_s, ttft_s - forecast.link_s)

    def _settle(self) -> None:
        first, later = self._first, self._later
        self.ahead_s = first.first * self._fixed_s
        self.ahead = first.first * self.ahead_share_prior
        self.prompts = first.second
        self.steps = first.third
        self.step_s = later.first * self.step_prior_s
        self.sequence_s = later.second * self.sequence_prior_s
        self.context_token_s = later.second * self.context_token_prior_s
        self.prompts_between = later.third
        self.token_share_s = self.step_s / REFERENCE_BATCH + self.sequence_s


class Band:
    """How far from a prediction the measured value lies, nine times out of ten; three per pool.

    Two quantiles of log(actual / predicted), each moved a little at every sample towards where it should be: no
    distribution is assumed, and the band widens by itself where a pool behaves in a way that the prediction lacks.
    """

    __slots__ = (
        *("_above", "_below", "_quiet_above", "_quiet_below"),
        *("error", "high", "low", "middle", "samples", "steepness"),
    )

    def __init__(self) -> None:
        self.samples = 0
        self.error = SPREAD_PRIOR / 2  # mean of |log(actual / predicted)|
        self._below, self._above = -SPREAD_PRIOR, SPREAD_PRIOR
        self._quiet_below = self._quiet_above = 0.0  # samples since the last one beyond each
        self.low, self.high = exp(-SPREAD_PRIOR), exp(SPREAD_PRIOR)  # factors around a prediction
        self._settle()

    def miss(self, predicted_s: float, limit_s: float) -> float:
        """The chance that the measured value is beyond a limit, by the logistic curve through both quantiles."""
        room = limit_s / (predicted_s * self.middle)
        return 0.0 if room > ROOM_MAX else 1.0 / (1.0 + pow(room, self.steepness))

    def learn(self, predicted_s: float, actual_s: float) -> None:
        """A prediction and what came of it."""
        if predicted_s <= 0.0 or actual_s <= 0.0:
            return
        off = log(min(max(actual_s / predicted_s, 1.0 / RATIO_MAX), RATIO_MAX))
        self.samples += 1
        # The first samples count for more: a mean from the start, a moving one later.
        self.error += max(ERROR_PACE, 1.0 / (self.samples + 1)) * (abs(off) - self.error)
        if self.samples == BAND_SAMPLES_MIN:
            self._above = SPREAD_OF_ERROR * self.error
            self._below = -self._above
        pace = BAND_PACE * max(self.error, SPREAD_MIN)
        if off > self._above:
            self._above += pace * (1.0 - TAIL)
            self._quiet_above = 0.0
        else:
            self._above -= pace * _drawn_in(self._quiet_above)
            self._quiet_above += 1.0
        if off < self._below:
            self._below -= pace * (1.0 - TAIL)
            self._quiet_below = 0.0
        else:
            self._below += pace * _drawn_in(self._quiet_below)
            self._quiet_below += 1.0
        if self._above < self._below:
            self._above = self._below = (self._above + self._below) / 2
        self._settle()

    def _settle(self) -> None:
        self.low, self.high = exp(self._below), exp(self._above)
        self.middle = exp((self._below + self._above) / 2)
        width = self._above - self._below
        self.steepness = QUANTILE_LOGIT / width if width > QUANTILE_LOGIT / STEEPNESS_MAX else STEEPNESS_MAX

    @property
    def is_lost(self) -> bool:
        """Whether predictions are off by a factor of two as a rule, so that counting requests is the better guide."""
        return self.samples >= BAND_SAMPLES_MIN and self.error > 0.7


def _drawn_in(quiet: float) -> float:
    """How far a quantile moves inwards, after so many samples that did not reach it: twice as fast once that is no
    chance any more, or what one bad minute has widened would take a quarter of an hour to narrow."""
    return TAIL if quiet <= QUIET_MAX else min(2.0 * TAIL, TAIL + TAIL * TAIL * (quiet - QUIET_MAX))


class Corrector:
    """Three factors by which a prior is off, learned by recursive least squares that forget; two per pool.

    A time is the sum of three parts. Each part's factor begins at 1 and moves with every time that is measured; what
    counts is the relative error, so that long requests do not outvote short ones. The 3 x 3 covariance is written out,
    since this runs for every request. `coupling` is how far a sample draws the factors to each other: parts that
    cannot be told apart are slow together.
    """

    __slots__ = (
        "_coupling",
        "_doubt_max",
        "_p00",
        "_p01",
        "_p02",
        "_p11",
        "_p12",
        "_p22",
        "_scatter",
        "_scatter_least",
        "first",
        "second",
        "third",
    )

    def __init__(self, doubt: float, *, coupling: float, scatter: float) -> None:
        self.first = self.second = self.third = 1.0
        self._coupling = coupling
        self._p00 = self._p11 = self._p22 = doubt * doubt
        self._p01 = self._p02 = self._p12 = 0.0
        self._doubt_max = doubt * doubt
        self._scatter = self._scatter_least = scatter * scatter

    def learn(self, first_s: float, second_s: float, third_s: float, actual_s: float) -> None:
        """The sum of these parts turned out like this."""
        expected_s = self.first * first_s + self.second * second_s + self.third * third_s
        if expected_s <= 0.0 or actual_s <= 0.0:
            return
        x0, x1, x2 = first_s / expected_s, second_s / expected_s, third_s / expected_s
        # Twice as long and half as long are as far off: delays would outweigh everything else otherwise.
        surprise = min(max(log(actual_s / expected_s), -SURPRISE_MAX), SURPRISE_MAX)
        self._scatter += SCATTER_PACE * (surprise * surprise - self._scatter)
        p00, p01, p02, p11, p12, p22 = self._p00, self._p01, self._p02, self._p11, self._p12, self._p22
        g0 = p00 * x0 + p01 * x1 + p02 * x2
        g1 = p01 * x0 + p11 * x1 + p12 * x2
        g2 = p02 * x0 + p12 * x1 + p22 * x2
        scatter = self._scatter if self._scatter > self._scatter_least else self._scatter_least
        scale = 1.0 / (scatter + x0 * g0 + x1 * g1 + x2 * g2)
        self._move(g0 * surprise * scale, g1 * surprise * scale, g2 * surprise * scale)
        # Factors drift, so doubt grows again; not for ever where a part is never seen, or one odd sample settles it.
        most = self._doubt_max
        self._p00 = p00 - g0 * g0 * scale + (PROCESS_NOISE if p00 < most else 0.0)
        self._p11 = p11 - g1 * g1 * scale + (PROCESS_NOISE if p11 < most else 0.0)
        self._p22 = p22 - g2 * g2 * scale + (PROCESS_NOISE if p22 < most else 0.0)
        self._p01 = p01 - g0 * g1 * scale
        self._p02 = p02 - g0 * g2 * scale
        self._p12 = p12 - g1 * g2 * scale

    def _move(self, by0: float, by1: float, by2: float) -> None:
        first, second, third = self.first + by0, self.second + by1, self.third + by2
        apart = 1.0 - self._coupling
        together = self._coupling * (first + second + third) / 3
        self.first = min(max(first * apart + together, FACTOR_MIN), FACTOR_MAX)
        self.second = min(max(second * apart + together, FACTOR_MIN), FACTOR_MAX)
        self.third = min(max(third * apart + together, FACTOR_MIN), FACTOR_MAX)
