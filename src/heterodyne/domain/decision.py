"""Why a request goes where it goes."""

from enum import StrEnum

from msgspec import Struct

from heterodyne.domain.fleet import Replica


class Reason(StrEnum):
    """A word the dashboard can show."""

    ONLY_REPLICA = "only_replica"
    LEAST_LOADED = "least_loaded"
    ONLY_POOL = "only_pool"  # replicas of one kind: the one that answers first
    FASTEST = "fastest"
    CHEAPEST = "cheapest"
    PREFERRED = "preferred"
    BEST_MIX = "best_mix"
    LEAST_HARM = "least_harm"  # nobody keeps the promise: where it breaks the fewest others
    SPARE = "spare"  # batch work, where interactive work leaves room
    HOME = "home"  # the replica that has the conversation
    EXPLORED = "explored"  # to see how a pool is doing that was not heard of for long
    PEER = "peer"  # by another system's rule


class Decision(Struct, frozen=True, kw_only=True):
    """The chosen target."""

    target: Replica
    reason: Reason
