"""Replicas that exchange KV, and a router of them with round numbers."""

from collections.abc import Mapping

from msgspec import structs

from heterodyne.domain.fleet import FleetSnapshot, Replica, ReplicaId
from heterodyne.domain.replica_role import ReplicaRole
from heterodyne.domain.routing_rule import KvStrategy, RoutingRule
from heterodyne.fleet.kv_settings import KvStoreSettings
from heterodyne.routing.kv.chain import chain_of, salt_of
from heterodyne.routing.picker import Chance
from heterodyne.routing.prediction.prior import Prior
from heterodyne.routing.router import Router
from heterodyne.routing.routing_choice import RoutingChoice
from heterodyne.routing.routing_request import RoutingRequest
from tests.support.replica_states import ROUND, even, fleet, replica, routing_request

# 100 kB a token, so that the KV of 20,000 tokens, which take 2 s to compute, takes 0.1 s over the link.
LINKED = structs.replace(ROUND, kv_token_bytes=1e5, kv_link_bytes_per_s=20e9)
PROMPT_TOKENS = 20_000


def copying(name: str, pool: str = "p", **facts: object) -> Replica:
    return replica(name, pool, **{"kv_transfer": "dynamo", "kv_layout": "L", **facts})


def prefilling(name: str = "prompts", **facts: object) -> Replica:
    return copying(name, "prompts", role=ReplicaRole.PREFILL, **facts)


def decoding(name: str = "answers", **facts: object) -> Replica:
    return copying(name, "answers", role=ReplicaRole.DECODE, **facts)


def asked(tokens: int = PROMPT_TOKENS, *, tenant: bytes = b"t", words: bytes = b"x", **facts: object) -> RoutingRequest:
    prompt = (words * tokens * 4)[: tokens * 4]
    return routing_request(tokens, chain=chain_of(salt_of(tenant), prompt, 0.25), **facts)


class KvFleet:
    """A router, and what is done with it; time stands still unless it is told to go on."""

    def __init__(
        self,
        *replicas: Replica,
        kv: KvStrategy = KvStrategy.AUTO,
        policy: str = "slo",
        priors: Mapping[str, Prior] | None = None,
        stores: Mapping[str, KvStoreSettings] | None = None,
        chance: Chance = even,
    ) -> None:
        self.fleet: FleetSnapshot = fleet(*replicas, rule=RoutingRule(kv=kv, policy=policy))
        self.router = Router(
            self.fleet,
            prior_of=lambda one: (priors or {}).get(one.pool, LINKED),
            chance=chance,
            now_s=0.0,
            kv_stores=stores or {},
        )
        self.now_s = 0.0

    def decide(self, request: RoutingRequest) -> RoutingChoice:
        return self.router.decide(request, self.fleet.by_model["m"], self.now_s)

    def serve(self, request: RoutingRequest, name: str, times: int = 12) -> None:
        """The replica answers it, so often that it is known to hold its prompt for certain."""
        for _ in range(times):
            forecast = self.router.forecast(request, self._id(name), self.now_s)
            ticket = self.router.start(request, forecast, self.now_s)
            ticket.first_token(self.now_s + forecast.ttft_s)
            self.now_s += 10.0
            ticket.end(self.now_s, output_tokens=10, cached_tokens=request.prompt_tokens - 1)

    def occupy(self, name: str, prompts: int = 3) -> None:
        """So many other prompts are in its queue."""
        for number in range(prompts):
            request = asked(words=b"other %d" % number)
            self.router.start(request, self.router.forecast(request, self._id(name), self.now_s), self.now_s)

    def _id(self, name: str) -> ReplicaId:
        return next(one.id for one in self.fleet.replicas if one.id == name)
