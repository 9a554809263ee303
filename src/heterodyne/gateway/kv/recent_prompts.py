"""Prompts that were sent lately, as the calls that engines were sent, where a pool warms its new replicas by them.

They are in memory alone, of this worker, and no log has them. A call goes to nobody but replicas that its own tenant's
request might have gone to, with whatever keeps tenants apart in it.
"""

from collections import OrderedDict
from collections.abc import Callable
from typing import Final, final

from heterodyne.domain.fleet import Replica
from heterodyne.gateway.offload.large import LargeCall
from heterodyne.ports.engine_request import EngineRequest
from heterodyne.routing.kv.chain import Chain
from heterodyne.routing.routing_request import RoutingRequest

PROMPTS_MAX: Final = 256
BYTES_MAX: Final = 64 << 20  # of all of them
KEPT_S: Final = 1800.0


@final
class RecentPrompt:
    """One request that was sent."""

    __slots__ = ("at_s", "call", "made_for", "request")

    def __init__(self, call: EngineRequest, made_for: Replica, request: RoutingRequest, at_s: float) -> None:
        self.call = call
        self.made_for = made_for  # the replica that the call was for
        self.request = request
        self.at_s = at_s

    def begins_with(self, prefix: Chain) -> bool:
        """Each block depends on all before it, and on the tenant."""
        hashes, last = self.request.chain.hashes, len(prefix.hashes) - 1
        return len(hashes) > last and hashes[last] == prefix.hashes[last]


@final
class RecentPrompts:
    """One per worker. The latest of those whose blocks are the same stands for all of them."""

    __slots__ = ("_by_tail", "_bytes_max", "byte_count")

    def __init__(self, bytes_max: int = BYTES_MAX) -> None:
        self._by_tail: OrderedDict[int, RecentPrompt] = OrderedDict()
        self._bytes_max = bytes_max
        self.byte_count = 0

    def __len__(self) -> int:
        return len(self._by_tail)

    def note(self, call: EngineRequest | LargeCall, made_for: Replica, request: RoutingRequest, now_s: float) -> None:
        """It is sent there. Large bodies, and prompts without a whole block, are not kept."""
        hashes = request.chain.hashes
        if not hashes or isinstance(call, LargeCall):
            return
        self._drop(hashes[-1])
        self._by_tail[hashes[-1]] = RecentPrompt(call, made_for, request, now_s)
        self.byte_count += len(call.body)
        while len(self._by_tail) > PROMPTS_MAX or self.byte_count > self._bytes_max:
            self._drop(next(iter(self._by_tail)))

    def keep_only(self, models: frozenset[str], now_s: float) -> None:
        """No other model wants its prompts kept, and what is old goes."""
        for tail, one in list(self._by_tail.items()):
            if one.request.model not in models or one.at_s < now_s - KEPT_S:
                self._drop(tail)

    def try_shortest(self, prefix: Chain, may: Callable[[RecentPrompt], bool]) -> RecentPrompt | None:
        """The one that adds least to what it begins with, of those that may be sent."""
        able = (one for one in self._by_tail.values() if one.begins_with(prefix) and may(one))
        return min(able, key=lambda one: len(one.call.body), default=None)

    def _drop(self, tail: int) -> None:
        one = self._by_tail.pop(tail, None)
        if one is not None:
            self.byte_count -= len(one.call.body)
