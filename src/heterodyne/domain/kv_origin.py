"""Whence a replica gets the KV of a prompt that it does not compute itself, and why it may not."""

from enum import StrEnum


class KvOrigin(StrEnum):
    """The kinds of places; where none is named the replica computes what it does not hold."""

    PEER = "peer"  # another replica that holds it
    STORE = "store"  # a store that replicas share
    HOST = "host"  # its own host's memory, where its engine moved it
    PREFILL = "prefill"  # another replica that computes it for this one


class KvLoss(StrEnum):
    """Why KV that was to be brought does not come."""

    BROKEN = "broken"  # its link, or one of its ends
    MISSING = "missing"  # it is not where it was thought to be
    CROWDED = "crowded"  # it was not its turn
    NOT_COMPUTED = "not_computed"  # the replica that was to compute it did not, which its health knows of
