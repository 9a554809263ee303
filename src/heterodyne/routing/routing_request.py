"""What the router needs to know of a request."""

from math import inf

from msgspec import Struct

from heterodyne.domain.urgency import Urgency
from heterodyne.routing.kv.chain import EMPTY, Chain


class RoutingRequest(Struct, frozen=True, kw_only=True, gc=False):
    """One request, as far as its place in the fleet depends on it."""

    model: str  # that is to answer: no alias
    tenant: bytes = b""  # of its key
    prompt_tokens: int
    output_tokens: float  # expected, of all its sequences
    sequences: int = 1  # that are generated side by side
    chain: Chain = EMPTY  # its prompt, block by block; empty where prefixes are not looked at
    session: str = ""  # what ties it to requests before it; empty: nothing does
    urgency: Urgency = Urgency.INTERACTIVE
    ttft_slo_s: float = inf
    itl_slo_s: float = inf
    regions: frozenset[str] | None = None  # that it may be answered in; None: anywhere
    streams: bool = True  # False: the answer comes whole, without a first token to be seen
    policy: str = ""  # empty: the model's own
    pool: str = ""  # that is to answer; empty: any of its model

    @property
    def has_slo(self) -> bool:
        """Whether it has an SLO."""
        return self.ttft_slo_s < inf or self.itl_slo_s < inf
