"""Pure: a request and the fleet become a target. Of those that may take it the least loaded wins."""

from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches

from heterodyne.domain.decision import Decision, Reason
from heterodyne.domain.errors import EngineUnavailable, HeterodyneError, InvalidField, UnknownModel
from heterodyne.domain.fleet import FleetSnapshot, Purpose, Replica, ReplicaId
from heterodyne.domain.request import Operation, Request

ONLY_REPLICA, LEAST_LOADED = Reason.ONLY_REPLICA, Reason.LEAST_LOADED
MODELS_NAMED_MAX = 20
RESTART_RETRY_AFTER_S = 2
INFER = Purpose.INFER  # on the request path an enum's member costs five times as much as a global
NOBODY: frozenset[ReplicaId] = frozenset()

_PURPOSE_OF = {
    Operation.CHAT: Purpose.GENERATE,
    Operation.COMPLETION: Purpose.GENERATE,
    Operation.EMBEDDING: Purpose.EMBED,
    Operation.INFER: Purpose.INFER,
}
_SAID_OF = {
    Purpose.GENERATE: "generates text",
    Purpose.EMBED: "embeds text; ask it on /v1/embeddings",
    Purpose.INFER: "takes tensors; ask it on /v2/models/NAME/infer",
    None: "does not take tensors; ask it on /v1",
}


def decide(
    request: Request,
    fleet: FleetSnapshot,
    model: str,
    usable: Sequence[Replica],
    in_flight: Mapping[ReplicaId, int],
    *,
    excluded: frozenset[ReplicaId] = NOBODY,
    weigh: Callable[[Replica], float] | None = None,
) -> Decision:
    """The replica to ask for `model`, or the reason why there is none.

    `usable` are its replicas that may take a request now; `excluded` have already failed this one; `weigh` gives the
    share of its usual work that a replica should get.
    """
    if len(usable) == 1 and not excluded:
        target, reason = usable[0], ONLY_REPLICA
    else:
        left = [replica for replica in usable if replica.id not in excluded] if excluded else usable
        if not left:
            raise _nobody(model, fleet, has_failed=bool(excluded))
        target, reason = _least_loaded(left, fleet, in_flight, weigh), LEAST_LOADED
    _check_purpose(request, target)
    return Decision(target=target, reason=reason)


def _least_loaded(
    replicas: Sequence[Replica],
    fleet: FleetSnapshot,
    in_flight: Mapping[ReplicaId, int],
    weigh: Callable[[Replica], float] | None,
) -> Replica:
    if fleet.tiers:
        first = min(fleet.tiers.get(replica.id, 0) for replica in replicas)
        replicas = [replica for replica in replicas if fleet.tiers.get(replica.id, 0) == first]
    if weigh is None:
        return min(replicas, key=lambda replica: in_flight.get(replica.id, 0))
    return min(replicas, key=lambda replica: (in_flight.get(replica.id, 0) + 1) / weigh(replica))


def _check_purpose(request: Request, target: Replica) -> None:
    wanted = _PURPOSE_OF.get(request.operation)
    if wanted is None or target.purpose is wanted:
        return
    # Engines whose purpose nobody says answer in text or vectors, never in tensors.
    if target.purpose is not None or wanted is INFER:
        raise InvalidField(f"Model {request.model!r} {_SAID_OF[target.purpose]}.", param="model")


def _nobody(model: str, fleet: FleetSnapshot, *, has_failed: bool) -> HeterodyneError:
    replicas = fleet.by_model.get(model)
    if replicas is None:
        return UnknownModel(unknown_model(model, fleet), param="model")
    if has_failed:
        return EngineUnavailable(f"No other replica of {model!r} can take the request.")
    if any(replica.is_takeable for replica in replicas):
        return EngineUnavailable(
            f"Every replica of {model!r} that is ready is failing or has enough to do.",
            retry_after_s=RESTART_RETRY_AFTER_S,
        )
    if all(replica.is_draining for replica in replicas):
        return EngineUnavailable(f"Every replica of {model!r} is being drained.")
    return EngineUnavailable(
        f"No replica of {model!r} is ready; it may be starting or restarting.", retry_after_s=RESTART_RETRY_AFTER_S
    )


def unknown_model(model: str, fleet: FleetSnapshot) -> str:
    """What to say of a model nobody serves."""
    known = [*fleet.by_model, *fleet.aliases, *fleet.adapters]
    nearest = get_close_matches(model, known, n=1)
    hint = f" Did you mean {nearest[0]!r}?" if nearest else ""
    named = ", ".join(known[:MODELS_NAMED_MAX]) + (", …" if len(known) > MODELS_NAMED_MAX else "")
    return f"The model {model!r} does not exist.{hint} Known models: {named}."
