"""Pure: what one request would take on one replica, in seconds and dollars, and the choice among such forecasts."""

from math import inf

from msgspec import Struct

from heterodyne.domain.fleet import Replica
from heterodyne.domain.routing_rule import Reason
from heterodyne.routing.kv.fetch import reachable
from heterodyne.routing.prediction.pool_speed import PROMPT_RATE_S, Band
from heterodyne.routing.replica_state import ReplicaState
from heterodyne.routing.routing_request import RoutingRequest

PROMPT_SHARE_MAX = 0.8
LATENESS_WEIGHT = 0.02  # missed SLOs that being late by one more TTFT is as bad as: late is bad, later worse
BUSY = 0.25  # of a TTFT spent waiting: from there on a request counts as having queued
LOAD_MAX = 0.95  # from this share on a replica is over capacity: one more may cost another request its SLO
RISK_KEPT = 0.15  # SLOs expected to be missed: below this they are as good as kept
RISK_LIKELY = 0.5
SAMPLES_MIN = 8

# How well an SLO is kept. Lower is better, and whatever an objective prefers comes after it.
KEPT, LIKELY, CROWDED, BROKEN = range(4)


class Forecast(Struct, frozen=True, gc=False):
    """One candidate. What its TTFT is made of is kept, so that the measured TTFT can be held against it."""

    state: ReplicaState
    ttft_band: Band  # how far from `ttft_s` such requests lie
    ttft_s: float
    ttft_high_s: float  # 19 times out of 20 it is sooner
    itl_s: float
    itl_high_s: float
    risk: float  # SLOs that it is expected to miss: its own, and those of other requests on the replica
    share_s: float  # of the replica's time: its prompt, and its part of the steps of a batch
    usd: float  # infinite: the replica's price is not known
    load: float  # share of its capacity that is taken, 1 or more when it is full
    cached_tokens: float
    work_s: float  # its prompt alone, by the prior
    steps_s: float  # steps of others that its prompt shares or waits for, by the prior
    backlog_s: float  # until the prompts before it are done
    room_s: float  # until there is memory or a slot, where that is later
    link_s: float  # to fetch what another replica has of its prompt

    @property
    def wait_s(self) -> float:
        """Time in the replica's queue."""
        return self.room_s or self.backlog_s

    @property
    def ttft_low_s(self) -> float:
        """19 times out of 20 it is later."""
        return self.ttft_s * self.ttft_band.low

    @property
    def itl_low_s(self) -> float:
        """The same, of the time between tokens."""
        return self.itl_s * self.state.speed.itl_band.low


class RoutingChoice(Struct, frozen=True, gc=False):
    """Where one request goes, what it should take there, and why."""

    forecast: Forecast
    slo_outlook: int  # see `slo_outlook`
    reason: Reason
    others: tuple[Forecast, ...] = ()  # that were compared, the chosen one or not; some may be there twice
    is_repeated: bool = False  # made for the request before; this one is neither counted nor learned from

    @property
    def alone_s(self) -> float:
        """The TTFT to expect there with an empty queue; 0 while too little is known of the pool."""
        forecast = self.forecast
        if forecast.ttft_band.samples < SAMPLES_MIN:
            return 0.0
        return forecast.ttft_s - (forecast.room_s or forecast.backlog_s)

    @property
    def target(self) -> Replica:
        """The replica that is chosen."""
        return self.forecast.state.replica


def slo_outlook(forecast: Forecast) -> int:
    """Kept with room, probably kept, kept on a replica that is full, or not kept.

    The risk counts the SLOs of other requests too: one that would make ten others late is not well placed in time.
    """
    risk = forecast.risk
    if risk >= RISK_LIKELY:
        return BROKEN
    if forecast.load > LOAD_MAX:
        return CROWDED
    return KEPT if risk < RISK_KEPT else LIKELY


def forecast_on(
    state: ReplicaState, request: RoutingRequest, cached_tokens: float, now_s: float, held_tokens: float = 0.0
) -> Forecast:
    """A few dozen additions and products, however much is in flight.

    `held_tokens` are those that another replica of the pool could send it.
    """
    speed = state.speed
    prior, pace = speed.prior, speed.prompts
    prompt, answer = request.prompt_tokens, request.output_tokens
    cached_tokens *= state.trust
    link_s = 0.0
    if held_tokens > cached_tokens:
        cached_tokens, link_s = reachable(prior, pace, own_tokens=cached_tokens, held_tokens=held_tokens)
    new = prompt - cached_tokens
    work_s = prior.prompt_s + new * (prior.prompt_token_s + prior.prompt_token_squared_s * (prompt + cached_tokens))
    backlog_s = state.free_at_s - now_s
    if backlog_s < state.floor_s:
        backlog_s = state.floor_s
    busy = state.in_flight + state.others
    steps_s = 0.0
    if busy:
        steps_s = 0.5 * state.step_prior_s
        if prior.mixes_prompts:
            steps_s *= 3.0 + 2.0 * ((new + state.waiting_tokens) // prior.step_tokens)
    sequence_tokens = prompt + 0.5 * answer
    context = state.context_tokens + sequence_tokens
    # Near enough to an exponential for the little time since the last prompt; work is spread, so what one replica
    # will get is what all of them get.
    passed = 1.0 + (now_s - speed.prompt_at_s) / PROMPT_RATE_S
    share = speed.prompts_between * speed.prompt_rate / (passed * speed.replicas)
    stretch = 1.0 / (1.0 - (share if share < PROMPT_SHARE_MAX else PROMPT_SHARE_MAX))
    itl_s = (speed.step_s + speed.sequence_s * (busy + 1) + speed.context_token_s * context) * stretch
    load, kv_load = (busy + 1) / state.slots, context / state.kv_tokens
    if kv_load > load:
        load = kv_load
    room_s = 0.0
    if load > 1.0:
        room_s = (load - 1.0) * speed.answer_tokens * itl_s
        if room_s < backlog_s:
            room_s = 0.0
    wait_s = room_s or backlog_s
    own_s = pace * work_s
    ttft_s = speed.ahead_s + (speed.ahead + pace) * work_s + speed.steps * steps_s + wait_s + link_s
    band = speed.ttft_band_waiting if wait_s > BUSY * ttft_s else speed.ttft_band
    risk = 0.0
    if request.ttft_slo_s < inf or request.itl_slo_s < inf:
        slower_s = (speed.sequence_s + speed.context_token_s * sequence_tokens) * stretch
        risk = _risk(request, state, band, ttft_s, itl_s, own_s=own_s, slower_s=slower_s, busy=busy)
    share_s = own_s + answer * (speed.token_share_s + speed.context_token_s * sequence_tokens)
    usd = state.replica.price.usd(prompt, answer, share_s) if state.is_by_token else state.usd_per_s * share_s
    # By place: with sixteen names a forecast takes half as long again.
    return Forecast(
        state, band, ttft_s, ttft_s * band.high, itl_s, itl_s * speed.itl_band.high, risk, share_s,
        inf if usd is None else usd, load, cached_tokens, work_s, steps_s, backlog_s, room_s, link_s,
    )  # fmt: skip


def forecast_beside(
    state: ReplicaState, others: float, request: RoutingRequest, cached_tokens: float, now_s: float
) -> Forecast:
    """The same with so many more sequences there."""
    present = state.others
    state.others = present + others
    try:
        return forecast_on(state, request, cached_tokens, now_s)
    finally:
        state.others = present


def _risk(
    request: RoutingRequest,
    state: ReplicaState,
    band: Band,
    ttft_s: float,
    itl_s: float,
    *,
    own_s: float,
    slower_s: float,
    busy: float,
) -> float:
    """SLOs that the request is expected to miss here.

    `own_s` is what its prompt takes, `slower_s` by how much it slows each step of the `busy` sequences that are there.
    """
    ttft_slo_s, itl_slo_s, speed = request.ttft_slo_s, request.itl_slo_s, state.speed
    itl_band = speed.itl_band
    late = band.miss(ttft_s, ttft_slo_s)
    risk = late + (1.0 - late) * itl_band.miss(itl_s, itl_slo_s) + LATENESS_WEIGHT * ttft_s / ttft_slo_s
    if busy:
        # Requests that decode here get slower steps and wait for the prompt; those that wait, wait longer.
        itl_after_s = itl_s + own_s / (speed.answer_tokens + 1.0)
        risk += busy * (itl_band.miss(itl_after_s, itl_slo_s) - itl_band.miss(itl_s - slower_s, itl_slo_s))
        if state.waiting:
            risk += state.waiting * (band.miss(ttft_s + own_s, ttft_slo_s) - late)
    return risk
