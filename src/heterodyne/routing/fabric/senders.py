"""Pure: who has most of a prompt, and who may be asked to pass it on or to compute it for another."""

from heterodyne.routing.fabric.fabric import COPIES, HANDS_OVER
from heterodyne.routing.fabric.pinned import PinnedKv
from heterodyne.routing.kv.prefix_matches import PrefixMatches
from heterodyne.routing.replica_state import ReplicaState
from heterodyne.routing.routing_request import RoutingRequest


def only_hands_over(state: ReplicaState) -> bool:
    """Its KV leaves it only when it has just computed a prompt."""
    transfer = state.replica.kv_transfer
    return transfer in HANDS_OVER and transfer not in COPIES


def holders(
    request: RoutingRequest, cached: PrefixMatches, by_place: dict[int, ReplicaState], most: int
) -> list[ReplicaState]:
    """So many of those that have most of the prompt and may be asked for it, the most first."""
    found: list[ReplicaState] = []
    for _, places in reversed(cached.lengths):
        for place in places:
            state = by_place.get(place)
            if state is not None and request.may_go_to(state.replica):
                found.append(state)
                if len(found) == most:
                    return found
    return found


def may_send(state: ReplicaState, request: RoutingRequest, pinned: PinnedKv, now_s: float) -> bool:
    """Whether it may have the prompt, is fit to compute it for another, and has room beside what it keeps."""
    if state.replica_id in request.prefill_out or not request.may_go_to(state.replica):
        return False
    kept = pinned.tokens(state.place, now_s)
    return not kept or kept + state.all_context_tokens + request.prompt_tokens <= state.kv_tokens
