"""Whence a replica gets the KV of a prompt that it does not compute itself."""

from enum import StrEnum


class KvOrigin(StrEnum):
    """The kinds of places; where none is named the replica computes what it does not hold."""

    PEER = "peer"  # another replica that holds it
    STORE = "store"  # a store that replicas share
    HOST = "host"  # its own host's memory, where its engine moved it
    PREFILL = "prefill"  # another replica that computes it for this one
