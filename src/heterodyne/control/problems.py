"""What can be wrong with a replica, in words an operator can act on."""

from collections.abc import Callable, Sequence
from enum import StrEnum

from msgspec import Struct

from heterodyne.domain.engine_load import ServedModel
from heterodyne.domain.fleet import Replica

NAMES_SHOWN = 5


class ProblemKind(StrEnum):
    """One of each at most for a replica."""

    NOT_READY = "not_ready"  # it cannot be reached, or says that it takes no work
    WRONG_MODEL = "wrong_model"  # it gets no work
    MODELS_UNREAD = "models_unread"
    CONTEXT_SHORT = "context_short"
    LOAD_UNREAD = "load_unread"
    LOAD_FROZEN = "load_frozen"


class ReplicaProblem(Struct, frozen=True, kw_only=True):
    """One thing that is wrong now; `text` begins with the setting it is about."""

    kind: ProblemKind
    text: str


Place = Callable[[Replica], str]


def url_place(replica: Replica) -> str:
    """The setting that a replica reached by URL comes from."""
    index = replica.id.removeprefix(f"{replica.pool}-")
    return f"pools.{replica.pool}.urls[{index}]" if index.isdecimal() else f"pools.{replica.pool}: {replica.id}"


def url_of(replica: Replica) -> str:
    """Where it is looked for."""
    host = f"[{replica.host}]" if ":" in replica.host else replica.host
    return f"{'https' if replica.tls else 'http'}://{host}:{replica.port}{replica.base_path}"


def not_ready(place: str, replica: Replica, error: str) -> ReplicaProblem:
    return ReplicaProblem(kind=ProblemKind.NOT_READY, text=f"{place}: {url_of(replica)} is not ready: {error}")


def wrong_model(place: str, wanted: str, models: Sequence[ServedModel]) -> ReplicaProblem:
    names = [f'"{model.name}"' for model in models[:NAMES_SHOWN]]
    if len(models) > NAMES_SHOWN:
        names.append(f"{len(models) - NAMES_SHOWN} more")
    served = f"serves {', '.join(names)}" if names else "serves no model"
    return ReplicaProblem(
        kind=ProblemKind.WRONG_MODEL,
        text=f'{place}: {served}, not "{wanted}"; if it is the same model, set the pool\'s `engine_model` to its name',
    )


def models_unread(place: str, error: str) -> ReplicaProblem:
    return ReplicaProblem(kind=ProblemKind.MODELS_UNREAD, text=f"{place}: nobody knows which model it serves: {error}")


def context_short(place: str, configured: int, reported: int) -> ReplicaProblem:
    return ReplicaProblem(
        kind=ProblemKind.CONTEXT_SHORT,
        text=f"{place}: the pool's `context_tokens` is {configured}, but the engine takes {reported}",
    )


def load_unread(place: str, error: str) -> ReplicaProblem:
    return ReplicaProblem(
        kind=ProblemKind.LOAD_UNREAD, text=f"{place}: its load cannot be read, only our own requests count: {error}"
    )


def load_frozen(place: str, for_s: float) -> ReplicaProblem:
    return ReplicaProblem(
        kind=ProblemKind.LOAD_FROZEN,
        text=f"{place}: load pages have not changed for {for_s:.0f} s while it answered requests",
    )
