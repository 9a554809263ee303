"""What a replica does for a request: all of it, or one of its two phases."""

from enum import StrEnum


class ReplicaRole(StrEnum):
    """What a replica does for a request."""

    BOTH = "both"  # the prompt and the answer
    PREFILL = "prefill"  # the prompt; its keys and values then go to another replica
    DECODE = "decode"  # the answer
