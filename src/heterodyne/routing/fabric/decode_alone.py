"""Pure: replicas that are there for answers, and lack so little of a prompt that they may compute it themselves."""

from typing import Final

from heterodyne.domain.replica_role import ReplicaRole
from heterodyne.routing.forecast import forecast_on
from heterodyne.routing.kv.prefix_matches import PrefixMatches
from heterodyne.routing.predictive import Pool
from heterodyne.routing.replica_state import ReplicaState
from heterodyne.routing.routing_choice import Forecast
from heterodyne.routing.routing_request import RoutingRequest

DECODE_TOKENS: Final = 2048  # of a prompt, that a decode replica may compute where others could: it has the rest
DECODE: Final = ReplicaRole.DECODE


def decode_alone(
    request: RoutingRequest,
    decoding: list[Pool],
    candidates: list[ReplicaState],
    cached: PrefixMatches,
    now_s: float,
) -> list[Forecast]:
    """Of these, with nothing brought: what is left of the prompt is not worth sending elsewhere."""
    found: list[Forecast] = []
    seen: list[ReplicaState] = []
    for state in candidates:
        if state.replica.role is not DECODE or state in seen or not any(state in states for states in decoding):
            continue
        seen.append(state)
        held = cached.tokens(state.place)
        if request.prompt_tokens - held * state.trust <= DECODE_TOKENS:
            found.append(forecast_on(state, request, held, now_s))
    return found
