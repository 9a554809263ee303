"""Pure: one way to bring KV to one replica, in numbers: bytes, seconds, and what its failing would cost."""

from typing import Final, final

from heterodyne.domain.kv_origin import KvOrigin
from heterodyne.routing.fabric.fabric import KvFabric
from heterodyne.routing.kv.links import KvLink
from heterodyne.routing.replica_state import ReplicaState
from heterodyne.routing.routing_choice import Forecast

PREFILL: Final = KvOrigin.PREFILL


@final
class KvOffer:
    """Of so many tokens of the prompt, from its beginning."""

    __slots__ = (
        *("again_s", "brought_s", "byte_count", "harm", "least_s", "origin", "prefill", "queued_s", "source"),
        *("state", "store", "takes_s", "tokens"),
    )

    def __init__(self, origin: KvOrigin, state: ReplicaState, tokens: float) -> None:
        self.origin = origin
        self.state = state
        self.tokens = tokens
        self.source: ReplicaState | None = None
        self.store = ""
        self.prefill: Forecast | None = None  # on the source, where it computes the prompt
        self.harm = 0.0  # risk of others there
        self.byte_count = 0.0
        self.queued_s = 0.0  # behind what the sender sends to others
        self.takes_s = 0.0
        self.brought_s = 0.0  # the same with what is not known of the link, and what its failing would cost
        self.again_s = 0.0  # of that, to compute these tokens after all, by the chance that it fails
        self.least_s = 0.0  # no first token can come sooner

    def weigh(self, own: float, link: KvLink, fabric: KvFabric, *, sender: str, begins_s: float, now_s: float) -> bool:
        """What it takes to bring what the replica has not, of which it has `own` tokens, if that begins so much later.
        False: computing it there takes no longer; a prompt that is computed elsewhere may be worth that."""
        state = self.state
        speed, tokens = state.speed, self.tokens
        missing = tokens - own
        token_s = speed.prompt_token_s + speed.prompt_token_squared_s * (tokens + own)
        compute_s = speed.prompts * missing * token_s
        self.byte_count = byte_count = missing * fabric.token_bytes(state)
        moving_bytes = fabric.moving_bytes(sender)
        self.queued_s = link.bytes_s(moving_bytes, now_s) if moving_bytes else 0.0
        takes_s = self.queued_s + link.takes_s(byte_count, now_s)
        self.again_s = link.failing(now_s) * compute_s
        brought_s = takes_s * (1.0 + link.margin()) + self.again_s
        self.takes_s = begins_s + takes_s
        self.brought_s = begins_s + brought_s
        return self.origin is PREFILL or brought_s < compute_s
