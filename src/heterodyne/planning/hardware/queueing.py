"""What a replica gives requests that come by chance, as a formula: how late they are, and how many keep a promise.

Decoding is a shared processor that slows down as it fills, so that the number inside spreads around its mean; prompts
wait for the step under way and go together into the next one. The formula has the machine's own step times
(`StepClock`) and is held against the step machine in the tests; it takes half a millisecond, the machine fifty.
"""

from math import erf, exp, inf, log, sqrt
from statistics import NormalDist

from msgspec import Struct

from heterodyne.physics.replica.job import Scheduling
from heterodyne.physics.replica.step_clock import PromptChunk, StepClock
from heterodyne.physics.serving import Slo
from heterodyne.planning.traffic.request_shape import RequestShape

NORMAL = NormalDist()
FULL = 0.98  # of the time or of the places; beyond, waits grow too fast for a formula
ELASTIC = 0.9  # the number inside spreads no wider than this allows: waits for places begin then
TAIL = 1.15  # longer than that of the gamma distribution, by the step machine


class QueueState(Struct, frozen=True, kw_only=True):
    """A replica in which so many requests decode on average."""

    concurrency: float  # decoding beside a request
    requests_per_s: float
    itl_least_s: float  # nobody beside
    itl_more_s: float  # what others add to the mean time between a request's tokens, on average
    itl_sigma_s: float  # between requests
    ttft_least_s: float  # nobody in the way
    ttft_wait_s: float  # mean, on top
    ttft_wait_sigma_s: float
    full_share: float  # arrivals that find every place taken
    full_wait_s: float  # what those wait on average

    def ttft_quantile_s(self, share: float) -> float:
        """The time within which so many first tokens come."""
        late = 0.0
        if self.full_share > 1.0 - share:  # the wait for a place is exponential
            late = self.full_wait_s * log(self.full_share / (1.0 - share))
        return self.ttft_least_s + max(late, _gamma_quantile(self.ttft_wait_s, self.ttft_wait_sigma_s, share))

    def itl_quantile_s(self, share: float) -> float:
        """The mean token time that so many requests stay within."""
        return self.itl_least_s + _gamma_quantile(self.itl_more_s, self.itl_sigma_s, share)

    def kept(self, slo: Slo) -> float:
        """The share of requests within both times."""
        return self.within_ttft(slo.ttft_s) * self.within_itl(slo.itl_s)

    def within_itl(self, itl_s: float) -> float:
        """The share whose tokens come so fast on average."""
        return _gamma_cdf(self.itl_more_s, self.itl_sigma_s, itl_s - self.itl_least_s)

    def within_ttft(self, ttft_s: float) -> float:
        """The share whose first token comes in this time."""
        left_s = ttft_s - self.ttft_least_s
        if left_s < 0.0:
            return 0.0
        late = self.full_share * (exp(-left_s / self.full_wait_s) if 0.0 < self.full_wait_s < inf else 1.0)
        return _gamma_cdf(self.ttft_wait_s, self.ttft_wait_sigma_s, left_s) * (1.0 - late)


class ReplicaQueue:
    """One replica under requests of one shape."""

    def __init__(self, clock: StepClock, scheduling: Scheduling, shape: RequestShape) -> None:
        self._clock = clock
        self._prompt_tokens = max(1, round(shape.prompt_tokens))
        self._decoded_tokens = max(1.0, shape.output_tokens - 1.0)  # the first comes with the prompt
        self._context = shape.prompt_tokens + shape.output_tokens / 2
        self._is_mixing = scheduling.mixes_prompts
        self._step_tokens = scheduling.step_tokens
        # Memory is held by the block, the last one hardly ever full; and a whole prompt must find room at once.
        held = self._context + scheduling.block_tokens / 2
        self.places = min(float(scheduling.slots), max(1.0, scheduling.kv_tokens / held - 1.0))
        self.is_large_enough = shape.prompt_tokens + shape.output_tokens <= scheduling.kv_tokens
        self._pass_s = clock.chunks_s([])
        self._work_s = clock.chunks_s([PromptChunk(0, self._prompt_tokens)]) - self._pass_s
        self._ahead_s = clock.ahead_s(self._prompt_tokens, 0)

    def state(self, concurrency: float) -> QueueState | None:
        """None where prompts would come faster than they are computed."""
        decode_s = self._decode_s(concurrency + 1.0)
        room = self._step_tokens - (concurrency if self._is_mixing else 0.0)
        if room < 1.0:
            return None
        beside_s = decode_s * _some(concurrency) if self._is_mixing else 0.0
        steps = self._prompt_tokens / room  # of a prompt, where steps are full
        per_token = concurrency / self._decoded_tokens  # prompts of others between two tokens
        # Prompts share steps where they come together; the fewer come, the more each has one of its own.
        own_steps = max(steps, 1.0 / (1.0 + per_token))
        itl_s = decode_s + per_token * (self._work_s + own_steps * self._pass_s)
        rate = per_token / itl_s
        channel = _Channel(
            alone_s=self._work_s + max(1.0, steps) * (beside_s + self._pass_s),
            prompt_s=self._work_s + steps * (beside_s + self._pass_s),
            full_step_s=beside_s + self._pass_s + self._work_s / max(1.0, steps),
            steps=steps,
        )
        if rate * channel.prompt_s >= FULL:
            return None
        return self._spread(concurrency, rate, decode_s, itl_s, channel)

    def saturated_requests_per_s(self) -> float:
        """The rate beyond which a queue grows without end, whatever is promised."""
        decoding_s = self._decoded_tokens * self._decode_s(self.places)
        by_places = self.places / (decoding_s + self.places * self._work_s)
        if not self._is_mixing:
            return by_places
        beside_s = self._decode_s(self.places)
        room = max(self._step_tokens / 2, self._step_tokens - self.places)
        by_prompts = 1.0 / (self._work_s + self._prompt_tokens / room * (self._pass_s + beside_s))
        return min(by_places, by_prompts)

    def _spread(
        self, concurrency: float, rate: float, decode_s: float, itl_s: float, channel: "_Channel"
    ) -> QueueState:
        # The more are inside, the slower they leave: that widens what chance alone would give.
        slope_s = self._decode_s(concurrency + 2.0) - decode_s
        elasticity = min(ELASTIC, concurrency * slope_s / decode_s)
        inside_sigma = sqrt(concurrency / (1.0 - elasticity))
        window = 1.0 - elasticity  # the time a request spends inside, in times the number inside takes to change
        evened = 2.0 * (window - 1.0 + exp(-window)) / window**2  # of the variance, averaged over that time
        stretch = itl_s / decode_s
        crowd_s = slope_s * stretch * inside_sigma * sqrt(evened)
        # A prompt that comes in between makes the answer longer, so that more of them come.
        prompts_s = self._work_s * sqrt(concurrency) / self._decoded_tokens * stretch
        itl_sigma_s = TAIL * (crowd_s + prompts_s)  # the two come together
        wait_s, wait_sigma_s = channel.waits(rate, decode_s * _some(concurrency), self._work_s)
        inside = concurrency + rate * (channel.alone_s + wait_s)
        answer_s = itl_s * self._decoded_tokens + channel.alone_s
        least_s = self._decode_s(1.0)
        free = 1.0 - min(0.995, inside / self.places)
        return QueueState(
            concurrency=concurrency,
            requests_per_s=rate,
            itl_least_s=least_s,
            itl_more_s=itl_s - least_s,
            itl_sigma_s=itl_sigma_s,
            ttft_least_s=self._ahead_s + channel.alone_s,
            ttft_wait_s=wait_s,
            ttft_wait_sigma_s=wait_sigma_s,
            full_share=1.0 - _phi((self.places - inside) / max(1e-9, inside_sigma)),
            full_wait_s=answer_s / self.places / free,
        )

    def _decode_s(self, sequences: float) -> float:
        """Between whole numbers, straight."""
        low = max(1, int(sequences))
        low_s = self._clock.decode_s(low, self._context)
        if sequences <= low:
            return low_s
        return low_s + (sequences - low) * (self._clock.decode_s(low + 1, self._context) - low_s)


class _Channel(Struct, frozen=True):
    """Prompts go through steps: several in one where they are short, one through several where it is long."""

    alone_s: float  # a prompt with nobody before it
    prompt_s: float  # what each takes of the channel when steps are full
    full_step_s: float
    steps: float  # a prompt takes

    def waits(self, rate: float, decode_s: float, work_s: float) -> tuple[float, float]:
        """On top of `alone_s`: the mean and how far it spreads."""
        load = rate * self.prompt_s
        busy = min(1.0, rate * self.alone_s)  # time in steps with prompts
        # Those that came during one step are computed in the next, which makes that one longer for others again.
        together = min(rate * work_s, FULL) if self.steps < 1.0 else 0.0
        step_s = self.full_step_s / (1.0 - together)
        residual_s = busy * step_s / 2.0 + (1.0 - busy) * decode_s / 2.0
        queue_s = load * self.prompt_s / (2.0 * (1.0 - load)) if self.steps >= 1.0 else 0.0
        variance = (
            (busy * step_s**2 + (1.0 - busy) * decode_s**2) / 12.0
            + (2.0 * work_s**2 * rate * step_s if self.steps < 1.0 else 0.0)
            + (queue_s**2 + rate * self.prompt_s**3 / (3.0 * (1.0 - load)) if self.steps >= 1.0 else 0.0)
        )
        return residual_s + step_s - self.full_step_s + queue_s, sqrt(variance)


def _some(mean: float) -> float:
    """The chance that anything decodes at a moment."""
    return 1.0 - exp(-mean)


def _phi(z: float) -> float:
    return 0.5 * (1.0 + erf(z / sqrt(2.0)))


def _gamma_quantile(mean: float, sigma: float, share: float) -> float:
    """Wilson and Hilferty: the cube root of a gamma variable is nearly normal."""
    if mean <= 0.0 or sigma <= 0.0:
        return max(0.0, mean)
    ninth = (sigma / mean) ** 2 / 9.0
    return mean * float(max(0.0, 1.0 - ninth + NORMAL.inv_cdf(share) * sqrt(ninth))) ** 3


def _gamma_cdf(mean: float, sigma: float, value: float) -> float:
    if value < 0.0:
        return 0.0
    if mean <= 0.0 or sigma <= 0.0:
        return float(value >= mean)
    ninth = (sigma / mean) ** 2 / 9.0
    return _phi(((value / mean) ** (1.0 / 3.0) - 1.0 + ninth) / sqrt(ninth))
