"""Pure: a request and the fleet become a target. The least loaded ready replica of the model wins."""

from collections.abc import Mapping
from difflib import get_close_matches

from heterodyne.domain.decision import Decision, Reason
from heterodyne.domain.errors import EngineUnavailable, InvalidField, UnknownModel
from heterodyne.domain.fleet import FleetSnapshot, Health, Purpose, Replica, ReplicaId
from heterodyne.domain.request import Operation, Request

READY = Health.READY  # on the request path an enum's member costs five times as much as a global
ONLY_REPLICA, LEAST_LOADED = Reason
MODELS_NAMED_MAX = 20
RESTART_RETRY_AFTER_S = 2

_PURPOSE_OF = {
    Operation.CHAT: Purpose.GENERATE,
    Operation.COMPLETION: Purpose.GENERATE,
    Operation.EMBEDDING: Purpose.EMBED,
}


def decide(
    request: Request,
    fleet: FleetSnapshot,
    in_flight: Mapping[ReplicaId, int],
    *,
    excluded: frozenset[ReplicaId] = frozenset(),
) -> Decision:
    """The replica to ask, or the reason why there is none. `excluded` have already failed this request."""
    serving = fleet.by_model.get(request.model)
    if serving is None:
        raise UnknownModel(unknown_model(request.model, fleet), param="model")
    if len(serving) == 1 and not excluded:
        target, reason = serving[0], ONLY_REPLICA
        if target.health is not READY:
            raise _none_ready(request.model)
    else:
        ready = [r for r in serving if r.health is READY and r.id not in excluded]
        if not ready:
            raise _none_ready(request.model)
        target = min(ready, key=lambda replica: in_flight.get(replica.id, 0))
        reason = LEAST_LOADED
    _check_purpose(request, target)
    return Decision(target=target, reason=reason)


def _check_purpose(request: Request, target: Replica) -> None:
    wanted = _PURPOSE_OF.get(request.operation)
    if wanted is not None and target.purpose is not None and target.purpose is not wanted:
        what = "embeds text; ask it on /v1/embeddings" if target.purpose is Purpose.EMBED else "generates text"
        raise InvalidField(f"Model {request.model!r} {what}.", param="model")


def _none_ready(model: str) -> EngineUnavailable:
    return EngineUnavailable(
        f"No replica of {model!r} is ready; it may be starting or restarting.", retry_after_s=RESTART_RETRY_AFTER_S
    )


def unknown_model(model: str, fleet: FleetSnapshot) -> str:
    """What to say of a model nobody serves."""
    known = list(fleet.by_model)
    nearest = get_close_matches(model, known, n=1)
    hint = f" Did you mean {nearest[0]!r}?" if nearest else ""
    named = ", ".join(known[:MODELS_NAMED_MAX]) + (", …" if len(known) > MODELS_NAMED_MAX else "")
    return f"The model {model!r} does not exist.{hint} Known models: {named}."
