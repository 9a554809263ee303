"""Pure: where batch and background work goes: into what interactive work leaves.

What interactive work takes is a matter of the fleet, not of each replica: it goes where batch work is not, so that the
replica with the most lines would look as if nobody else needed it. Each replica is judged as if it had its part of all
interactive requests and prompts there are, or what it has, if that is more; with that, the predicted time between
tokens must stay well within the SLO, and a step that has all the prompts in it which wait must be within it: the few
steps of a short answer are no average. How well within is learned from promises that are missed (`PatientShare`).
"""

from collections.abc import Sequence
from math import inf

from heterodyne.domain.errors import NoSpareCapacity
from heterodyne.domain.routing_rule import Reason
from heterodyne.routing.forecast import KEPT, LOAD_MAX, forecast_on
from heterodyne.routing.kv.prefix_matches import PrefixMatches
from heterodyne.routing.policies.objective import Objective
from heterodyne.routing.prediction.pool_speed import PROMPT_RATE_S, PoolSpeed
from heterodyne.routing.replica_state import ReplicaState
from heterodyne.routing.routing_choice import Forecast, RoutingChoice
from heterodyne.routing.routing_request import RoutingRequest

RETRY_AFTER_S = 5
ITL_SHARE = 0.75  # of the SLO, that steps may take on the average where no promise is missed
BURST_SHARE = 0.9  # of the SLO, that those of a short answer may take, which the prompts that wait come between
RISK_MAX = 0.5  # promises that one may be expected to break
BACKLOG_SHARE = 0.15  # of the TTFT SLO, that prompts may wait where more is added
LIKELY_MIN = 0.5  # of a request: less is not expected at all
TOKEN_MIN_S = 1e-9  # of a prompt, whatever a prior says


def choose_spare(
    request: RoutingRequest,
    states: Sequence[ReplicaState],
    cached: PrefixMatches,
    objective: Objective,
    *,
    interactive: float,
    to_come: float,
    now_s: float,
) -> RoutingChoice:
    """The best of the replicas that have room; raises where none has.

    `interactive` requests are on all of them, or were a moment ago; `to_come` may be soon, by a longer memory.
    """
    parts = _parts(states, request.itl_slo_s)
    tokens_per_s = _prompt_tokens_per_s(states, now_s)
    forecasts = [
        forecast_beside(
            state,
            request,
            cached.tokens(state.place),
            now_s,
            requests=part * interactive,
            tokens_per_s=part * tokens_per_s,
        )
        for state, part in zip(states, parts, strict=True)
    ]
    expects_none = to_come / len(states) < LIKELY_MIN
    spare = [
        one
        for one in forecasts
        if one.state.patient < one.state.patient_max
        and (_leaves_room(request, one) or (expects_none and _is_idle(one)))
    ]
    if not spare:
        raise NoSpareCapacity(
            f"There is no spare capacity for {request.urgency.value} work of {request.model!r} now.",
            retry_after_s=RETRY_AFTER_S,
        )
    best = min(spare, key=lambda forecast: objective.rank(request, forecast))
    return RoutingChoice(best, KEPT, Reason.SPARE, tuple(forecasts))


def forecast_beside(
    state: ReplicaState,
    request: RoutingRequest,
    cached_tokens: float,
    now_s: float,
    *,
    requests: float,
    tokens_per_s: float,
) -> Forecast:
    """With so many interactive requests there at least, and so many tokens of their prompts a second."""
    speed, others, rate = state.speed, state.others, state.speed.prompt_rate
    faded = _faded(speed, now_s)
    part = tokens_per_s * speed.prompt_token_s * speed.replicas
    # Prompts that are there and not computed yet come on top: they are what comes between the next tokens.
    waiting = state.waiting_work_s * speed.replicas / PROMPT_RATE_S
    state.others = others + max(0.0, requests - (state.in_flight - state.patient))
    speed.prompt_rate = (max(rate / faded, part) + waiting) * faded  # a forecast takes it for that of the last prompt
    try:
        return forecast_on(state, request, cached_tokens, now_s)
    finally:
        state.others, speed.prompt_rate = others, rate


def _parts(states: Sequence[ReplicaState], itl_slo_s: float) -> list[float]:
    """Of interactive work, what falls to each: by how fast it computes prompts, and by the time between two tokens
    that a step with nothing in it leaves. All alike where none leaves any."""
    weights = [
        max(0.0, 1.0 - state.speed.step_s / itl_slo_s) / max(TOKEN_MIN_S, state.speed.prompt_token_s)
        for state in states
    ]
    total = sum(weights)
    return [weight / total for weight in weights] if total else [1.0 / len(states)] * len(states)


def _prompt_tokens_per_s(states: Sequence[ReplicaState], now_s: float) -> float:
    """Of interactive work, on all pools of these replicas."""
    speeds = {id(state.speed): state.speed for state in states}.values()
    return sum(one.prompt_rate / _faded(one, now_s) / max(TOKEN_MIN_S, one.prompt_token_s) for one in speeds)


def _faded(speed: PoolSpeed, now_s: float) -> float:
    """By how much its prompt rate has fallen since the last prompt."""
    return 1.0 + max(0.0, now_s - speed.prompt_at_s) / PROMPT_RATE_S


def _leaves_room(request: RoutingRequest, forecast: Forecast) -> bool:
    """Whether what was promised to others is still to be had, with room for a burst."""
    learned = forecast.state.speed.patient_share
    itl_s = learned.share * request.itl_slo_s
    gaps = learned.short_tokens if learned.short_tokens > 1.0 else 1.0
    return (
        forecast.load <= LOAD_MAX
        and forecast.risk < RISK_MAX
        and forecast.itl_s <= ITL_SHARE * itl_s
        and forecast.itl_s + forecast.backlog_s / gaps <= BURST_SHARE * itl_s
        and (request.ttft_slo_s == inf or forecast.backlog_s <= BACKLOG_SHARE * request.ttft_slo_s)
    )


def _is_idle(forecast: Forecast) -> bool:
    """The replica has no request, so it is spare, though it may hold a single one and so be full with it, and though
    the request asks for a pace that nobody could keep."""
    state = forecast.state
    return not state.in_flight and not state.others
