"""What bringing KV to a replica has come to: the call that makes use of it."""

from asyncio import Task
from math import inf
from typing import final

from heterodyne.ports.engine_request import EngineRequest


@final
class Brought:
    """KV that is there, or that the engine fetches when it is asked."""

    __slots__ = (
        *("byte_count", "call", "is_fetched_later", "is_handed_over", "lease_s", "lease_until_s", "other_side"),
        *("release", "tokens"),
    )

    def __init__(
        self,
        call: EngineRequest,
        *,
        tokens: int = 0,
        byte_count: int = 0,
        lease_until_s: float = inf,
        is_fetched_later: bool = False,
        other_side: "Task[None] | None" = None,
        is_handed_over: bool = False,
        lease_s: float | None = None,
        release: EngineRequest | None = None,
    ) -> None:
        self.call = call
        self.tokens = tokens  # 0: not said
        self.byte_count = byte_count  # 0: not said
        self.lease_until_s = lease_until_s  # on the worker's clock; what begins later may be of anything
        self.is_fetched_later = is_fetched_later  # by the engine, while it answers
        self.is_handed_over = is_handed_over  # it stays where it was computed until it is read
        self.lease_s = lease_s  # how long it stays where nobody reads it; None: not said
        self.release = release  # by which any replica like the one it was meant for reads it; None: there is no way
        self.other_side = other_side  # the prefill replica's part, which goes on beside the answer
