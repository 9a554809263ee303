"""Pure: what one request would take on one replica, in seconds and dollars, and how well that keeps its SLO."""

from math import inf
from typing import Final

from heterodyne.routing.kv.fetch import reachable
from heterodyne.routing.prediction.band import Band
from heterodyne.routing.prediction.pool_speed import PROMPT_RATE_S
from heterodyne.routing.replica_state import ReplicaState
from heterodyne.routing.routing_choice import Forecast
from heterodyne.routing.routing_request import RoutingRequest

PROMPT_SHARE_MAX: Final = 0.8
LATENESS_WEIGHT: Final = 0.02  # missed SLOs that being late by one more TTFT is as bad as: late is bad, later worse
BUSY: Final = 0.25  # of a TTFT spent waiting: from there on a request counts as having queued
LOAD_MAX: Final = 0.95  # from this share on a replica is over capacity: one more may cost another request its SLO
RISK_KEPT: Final = 0.15  # SLOs expected to be missed: below this they are as good as kept
RISK_LIKELY: Final = 0.5

# How well an SLO is kept. Lower is better, and whatever an objective prefers comes after it.
KEPT: Final = 0
LIKELY: Final = 1
CROWDED: Final = 2
BROKEN: Final = 3


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
    cached_tokens *= state.trust
    if held_tokens <= cached_tokens:
        return forecast_after(state, request, cached_tokens, 0.0, now_s)
    speed = state.speed
    cached_tokens, link_s = reachable(speed.prior, speed.prompts, own_tokens=cached_tokens, held_tokens=held_tokens)
    return forecast_after(state, request, cached_tokens, link_s, now_s)


def forecast_after(
    state: ReplicaState, request: RoutingRequest, cached_tokens: float, link_s: float, now_s: float
) -> Forecast:
    """Where so much of the prompt need not be computed once `link_s` have passed, in which nothing is."""
    speed = state.speed
    pace = speed.prompts
    prompt, answer = request.prompt_tokens, request.output_tokens
    new = prompt - cached_tokens
    work_s = speed.prompt_s + new * (speed.prompt_token_s + speed.prompt_token_squared_s * (prompt + cached_tokens))
    backlog_s = state.free_at_s - now_s
    if backlog_s < state.floor_s:
        backlog_s = state.floor_s
    busy = state.in_flight + state.others
    steps_s = 0.0
    if busy:
        steps_s = 0.5 * (speed.step_s + state.batch_s)
        if speed.mixes_prompts:
            steps_s *= 3.0 + 2.0 * ((new + state.all_waiting_tokens) // speed.step_tokens)
    sequence_tokens = prompt + 0.5 * answer
    context = state.all_context_tokens + sequence_tokens
    # Near enough to an exponential for the little time since the last prompt; work is spread, so what one replica
    # will get is what all of them get.
    passed = 1.0 + (now_s - speed.prompt_at_s) / PROMPT_RATE_S
    share = speed.prompts_between * speed.prompt_rate / (passed * speed.replicas)
    share += speed.prompts_between * speed.heard_prompt_share
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
        risk = _risk(request, state, band, ttft_s, itl_s, own_s=own_s, slower_s=slower_s, busy=busy - state.all_patient)
    share_s = own_s + answer * (speed.token_share_s + speed.context_token_s * sequence_tokens)
    itl_band = speed.itl_band
    # By place: uncompiled, with eighteen names a forecast takes half as long again.
    return Forecast(
        state, band, ttft_s, ttft_s * band.low, ttft_s * band.high, itl_s, itl_s * itl_band.low, itl_s * itl_band.high,
        risk, share_s, state.usd(prompt, answer, share_s, cached_tokens), load, cached_tokens, work_s, steps_s,
        backlog_s, room_s, link_s,
    )  # fmt: skip


def least_ttft_s(
    state: ReplicaState, request: RoutingRequest, cached_tokens: float, link_s: float, now_s: float
) -> float:
    """The TTFT of that forecast for a third of the work; less where there has to be room first."""
    speed = state.speed
    prompt = request.prompt_tokens
    new = prompt - cached_tokens
    work_s = speed.prompt_s + new * (speed.prompt_token_s + speed.prompt_token_squared_s * (prompt + cached_tokens))
    wait_s = state.free_at_s - now_s
    if wait_s < state.floor_s:
        wait_s = state.floor_s
    steps_s = 0.0
    if state.in_flight + state.others:
        steps_s = 0.5 * (speed.step_s + state.batch_s)
        if speed.mixes_prompts:
            steps_s *= 3.0 + 2.0 * ((new + state.all_waiting_tokens) // speed.step_tokens)
    return speed.ahead_s + (speed.ahead + speed.prompts) * work_s + speed.steps * steps_s + wait_s + link_s


def own_risk(request: RoutingRequest, forecast: Forecast) -> float:
    """The chance that the request misses its own SLO there, whatever it does to others."""
    late = forecast.ttft_band.miss(forecast.ttft_s, request.ttft_slo_s) if request.ttft_slo_s < inf else 0.0
    if request.itl_slo_s == inf:
        return late
    return late + (1.0 - late) * forecast.state.speed.itl_band.miss(forecast.itl_s, request.itl_slo_s)


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

    `own_s` is what its prompt takes, `slower_s` by how much it slows each step of the `busy` sequences that are there
    and were promised something.
    """
    ttft_slo_s, itl_slo_s, speed = request.ttft_slo_s, request.itl_slo_s, state.speed
    itl_band = speed.itl_band
    late = band.miss(ttft_s, ttft_slo_s)
    risk = late + (1.0 - late) * itl_band.miss(itl_s, itl_slo_s) + LATENESS_WEIGHT * ttft_s / ttft_slo_s
    if busy:
        # Requests that decode here get slower steps and wait for the prompt; those that wait, wait longer.
        itl_after_s = itl_s + own_s / (speed.answer_tokens + 1.0)
        risk += busy * (itl_band.miss(itl_after_s, itl_slo_s) - itl_band.miss(itl_s - slower_s, itl_slo_s))
        if state.all_waiting:
            risk += state.all_waiting * (band.miss(ttft_s + own_s, ttft_slo_s) - late)
    return risk
