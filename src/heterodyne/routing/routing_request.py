"""What the router needs to know of a request."""

from math import inf
from typing import Final, final

from heterodyne.domain.fleet import Replica, ReplicaId
from heterodyne.domain.residency import may_answer
from heterodyne.domain.urgency import Urgency
from heterodyne.routing.arms import Arm
from heterodyne.routing.kv.chain import EMPTY, Chain

INTERACTIVE: Final = Urgency.INTERACTIVE
NONE_OUT: Final[frozenset[ReplicaId]] = frozenset()


@final
class RoutingRequest:
    """One request, as far as its place in the fleet depends on it."""

    __slots__ = (
        "among",
        "arm",
        "chain",
        "itl_slo_s",
        "model",
        "output_tokens",
        "policy",
        "pool",
        "prefill_out",
        "prompt_tokens",
        "regions",
        "sequences",
        "session",
        "streams",
        "tenant",
        "ttft_slo_s",
        "urgency",
    )

    def __init__(
        self,
        *,
        model: str,
        prompt_tokens: int,
        output_tokens: float,
        tenant: bytes = b"",
        sequences: int = 1,
        chain: Chain = EMPTY,
        session: str = "",
        urgency: Urgency = INTERACTIVE,
        ttft_slo_s: float = inf,
        itl_slo_s: float = inf,
        regions: frozenset[str] | None = None,
        streams: bool = True,
        policy: str = "",
        pool: str = "",
        arm: Arm | None = None,
        among: frozenset[ReplicaId] | None = None,
        prefill_out: frozenset[ReplicaId] = NONE_OUT,
    ) -> None:
        self.model = model  # that is to answer: no alias
        self.tenant = tenant  # of its key
        self.prompt_tokens = prompt_tokens
        self.output_tokens = output_tokens  # expected, of all its sequences
        self.sequences = sequences  # that are generated side by side
        self.chain = chain  # its prompt, block by block; empty where prefixes are not looked at
        self.session = session  # what ties it to requests before it; empty: nothing does
        self.urgency = urgency
        self.ttft_slo_s = ttft_slo_s
        self.itl_slo_s = itl_slo_s
        self.regions = regions  # that it may be answered in; None: anywhere
        self.streams = streams  # False: the answer comes whole, without a first token to be seen
        self.policy = policy  # empty: the model's own
        self.pool = pool  # that is to answer; empty: any of its model
        self.arm = arm  # of a rollout, that it belongs to; None: there is none
        self.among = among  # the only replicas that whoever forwards it can reach; None: any
        self.prefill_out = prefill_out  # that must not compute its prompt for another now

    @property
    def has_slo(self) -> bool:
        """Whether it has an SLO."""
        return self.ttft_slo_s < inf or self.itl_slo_s < inf

    def may_be_in(self, region: str) -> bool:
        """Whether it may be kept there."""
        return self.regions is None or region in self.regions

    def may_go_to(self, replica: Replica) -> bool:
        """Whether its prompt may be sent there, by where that and its KV would rest."""
        return self.regions is None or may_answer(self.regions, replica)

    def of_model(self, model: str) -> "RoutingRequest":
        """The same of another model, which knows nothing of the prompts of the first."""
        other = self.copied()
        other.model, other.chain, other.arm = model, EMPTY, None
        return other

    def copied(self) -> "RoutingRequest":
        """Another one, for whoever has to change something."""
        return RoutingRequest(
            model=self.model,
            prompt_tokens=self.prompt_tokens,
            output_tokens=self.output_tokens,
            tenant=self.tenant,
            sequences=self.sequences,
            chain=self.chain,
            session=self.session,
            urgency=self.urgency,
            ttft_slo_s=self.ttft_slo_s,
            itl_slo_s=self.itl_slo_s,
            regions=self.regions,
            streams=self.streams,
            policy=self.policy,
            pool=self.pool,
            arm=self.arm,
            among=self.among,
            prefill_out=self.prefill_out,
        )
