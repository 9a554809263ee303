"""Pure: why no replica can be named for a request."""

from collections.abc import Iterable, Sequence
from math import ceil
from typing import Final

from heterodyne.domain.errors import EnginesFull, EngineUnavailable, HeterodyneError, InvalidField, UnknownModel
from heterodyne.domain.fleet import FleetSnapshot, Purpose, Replica
from heterodyne.domain.nearest import shown, try_nearest
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request

MODELS_NAMED_MAX: Final = 20
RESTART_RETRY_AFTER_S: Final = 2
FULL_RETRY_AFTER_S: Final = 1
INFER: Final = Purpose.INFER

_PURPOSE_OF: Final = {
    Operation.CHAT: Purpose.GENERATE,
    Operation.COMPLETION: Purpose.GENERATE,
    Operation.EMBEDDING: Purpose.EMBED,
    Operation.INFER: Purpose.INFER,
}
_SAID_OF: Final = {
    Purpose.GENERATE: "generates text",
    Purpose.EMBED: "embeds text; ask it on /v1/embeddings",
    Purpose.INFER: "takes tensors; ask it on /v2/models/NAME/infer",
    None: "does not take tensors; ask it on /v1",
}


def check_purpose(request: Request, target: Replica) -> None:
    """Raise when the model is for something else."""
    wanted = _PURPOSE_OF.get(request.operation)
    if wanted is None or target.purpose is wanted:
        return
    # Engines whose purpose is not configured answer in text or vectors, never in tensors.
    if target.purpose is not None or wanted is INFER:
        raise InvalidField(f"Model {request.model!r} {_SAID_OF[target.purpose]}.", param="model")


def no_replica_error(
    model: str,
    fleet: FleetSnapshot,
    *,
    has_failed: bool,
    is_full: bool = False,
    rate_limit_wait_s: float = 0.0,
    called: str = "",
) -> HeterodyneError:
    """Why none of the model's replicas can take a request; `is_full`: one could, but for what it holds.

    `rate_limit_wait_s` is when a provider's limit leaves room for it, where that is what it lacks; `called` is the
    client's own name for the model, where that is another: a key may know no more than an alias.
    """
    replicas, rule = fleet.by_model.get(model), fleet.rules.get(model)
    model = called or model
    if replicas is None and rule is not None and rule.wake is not None:
        return EngineUnavailable(
            f"No replica of {model!r} runs now; the first is being started.",
            retry_after_s=ceil(rule.wake.start.usual_s),
        )
    if replicas is None:
        return UnknownModel(unknown_model(model, ()), param="model")
    if has_failed:
        return EngineUnavailable(f"No other replica of {model!r} can take the request.")
    if rate_limit_wait_s > 0.0:
        limited = EnginesFull if is_full else EngineUnavailable
        return limited(
            f"The providers of {model!r} have nothing left of their rate limits now.",
            retry_after_s=ceil(rate_limit_wait_s),
        )
    if is_full:
        return EnginesFull(f"Every replica of {model!r} has as much to do as it may.", retry_after_s=FULL_RETRY_AFTER_S)
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


def no_replica_in_regions_error(model: str, regions: Iterable[str], *, is_full: bool) -> HeterodyneError:
    """Why none can where a key may be answered in some regions only; `is_full`: waiting helps."""
    unable = EnginesFull if is_full else EngineUnavailable
    return unable(
        f"No replica of {model!r} in the regions of this key ({', '.join(sorted(regions)) or 'none'}) can take the "
        "request now.",
        retry_after_s=FULL_RETRY_AFTER_S if is_full else RESTART_RETRY_AFTER_S,
    )


def unknown_model(model: str, known: Sequence[str]) -> str:
    """The message for a model that is not served; `known` are the names that may be shown instead."""
    nearest = try_nearest(model, known)
    hint = f" Did you mean {nearest!r}?" if nearest else ""
    named = ", ".join(known[:MODELS_NAMED_MAX]) + (", …" if len(known) > MODELS_NAMED_MAX else "")
    listed = f" Known models: {named}." if known else ""
    return f"The model {shown(model)!r} does not exist.{hint}{listed}"
