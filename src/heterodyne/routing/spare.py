"""Pure: where batch and background work goes: into what interactive work leaves, and will not need soon.

What it will need is the most it had at once lately; that much is taken for occupied, spread over the replicas, before
anything else is placed beside it.
"""

from collections.abc import Sequence

from heterodyne.domain.errors import NoSpareCapacity
from heterodyne.domain.routing_rule import Reason
from heterodyne.routing.forecast import KEPT, forecast_on, slo_outlook
from heterodyne.routing.kv.prefix_matches import PrefixMatches
from heterodyne.routing.policies.objective import Objective
from heterodyne.routing.prediction.pool_speed import PROMPT_RATE_S, PoolSpeed
from heterodyne.routing.replica_state import ReplicaState
from heterodyne.routing.routing_choice import Forecast, RoutingChoice
from heterodyne.routing.routing_request import RoutingRequest

RETRY_AFTER_S = 5
RISK_MAX = 0.12  # promises that a request of it may be expected to break: what comes next needs room, too
HALF_LIFE_S = 60.0  # of the memory of how much interactive work there was
LIKELY_MIN = 0.5  # of a request: less is not expected at all


def choose_spare(
    request: RoutingRequest,
    states: Sequence[ReplicaState],
    cached: PrefixMatches,
    objective: Objective,
    *,
    to_come: float,
    now_s: float,
) -> RoutingChoice:
    """The best of the replicas that have room beside what is to come; raises where none has."""
    each = to_come / len(states)
    forecasts = [forecast_beside(state, each, request, cached.tokens(state.place), now_s) for state in states]
    spare = [
        one
        for one in forecasts
        if one.state.patient < one.state.patient_max
        and ((one.risk < RISK_MAX and slo_outlook(one) == KEPT) or (each < LIKELY_MIN and _is_idle(one)))
    ]
    if not spare:
        raise NoSpareCapacity(
            f"There is no spare capacity for {request.urgency.value} work of {request.model!r} now.",
            retry_after_s=RETRY_AFTER_S,
        )
    best = min(spare, key=lambda forecast: objective.rank(request, forecast))
    return RoutingChoice(best, KEPT, Reason.SPARE, tuple(forecasts))


def forecast_beside(
    state: ReplicaState, others: float, request: RoutingRequest, cached_tokens: float, now_s: float
) -> Forecast:
    """With so many more sequences there, and with as many prompts between their tokens as there were lately."""
    speed, present = state.speed, state.others
    rate = speed.prompt_rate
    state.others, speed.prompt_rate = present + others, _prompt_rate_to_come(speed, now_s)
    try:
        return forecast_on(state, request, cached_tokens, now_s)
    finally:
        state.others, speed.prompt_rate = present, rate


def _prompt_rate_to_come(speed: PoolSpeed, now_s: float) -> float:
    """The most it was lately: prompts come in bursts, and a burst lasts as long as a line does."""
    passed = 1.0 + (now_s - speed.prompt_at_s) / PROMPT_RATE_S
    speed.prompt_peak = max(speed.prompt_rate / passed, speed.prompt_peak * fade(now_s - speed.prompt_peak_at_s))
    speed.prompt_peak_at_s = now_s
    return speed.prompt_peak * passed  # a forecast takes it for that of the last prompt


def fade(seconds: float) -> float:
    """What is left, after so long, of the memory of what interactive work took at most."""
    return 1.0 if seconds <= 0.0 else pow(0.5, seconds / HALF_LIFE_S)


def _is_idle(forecast: Forecast) -> bool:
    """The replica has no request, so it is spare, though it may hold a single one and so be full with it, and though
    the request asks for a pace that nobody could keep."""
    state = forecast.state
    return not state.in_flight and not state.others
