"""Fleets of one model in the states that a decision meets: nothing to do, much to do, prefixes here and there."""

from collections.abc import Callable, Sequence
from random import Random

from msgspec import Struct, structs

from heterodyne.domain.adapter import Nearness
from heterodyne.domain.fleet import FleetSnapshot, Health, PoolName, Replica, ReplicaId
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.routing.fallback import FallbackRouter
from heterodyne.routing.health.fleet_health import FleetHealth
from heterodyne.routing.health.outcome import Outcome
from heterodyne.routing.kv.chain import chain_of
from heterodyne.routing.prediction.prior import Prior
from heterodyne.routing.router import Router
from heterodyne.routing.routing_request import RoutingRequest
from heterodyne.routing.settings import RoutingSettings

MODEL = "m"
NOW_S = 10.0
PROMPT_BYTES, SHARED_BYTES = 8_000, 2_048
TOKENS_PER_BYTE = 0.25
IN_FLIGHT_MAX = 12  # on a replica that has much to do; the least is 1
POOLS = 4  # of a mixed fleet
REGIONS = ("here", "there")
OUTPUT_TOKENS = 200.0
SALT = b"tenant"
FAILURES = 10  # until a replica is out
PRIOR = Prior(
    fixed_s=0.01,
    prompt_s=0.005,
    prompt_token_s=5e-5,
    prompt_token_squared_s=1e-10,
    step_s=0.01,
    sequence_s=1e-4,
    context_token_s=1e-8,
    kv_tokens=400_000.0,
)


class Decision(Struct, frozen=True, kw_only=True):
    """A router in some state, and a request to ask it for, again and again."""

    router: FallbackRouter
    request: Request
    routing_request: RoutingRequest

    def decide(self) -> ReplicaId:
        """The replica; nothing is sent there."""
        return self.router.decide(self.request, self.routing_request, NOW_S).target.id


def idle(candidates: int) -> Decision:
    """No replica has anything to do."""
    return _Fleet(candidates).decision()


def busy(candidates: int) -> Decision:
    """Every replica has."""
    return _Fleet(candidates).fill().decision()


def shared_prefix(candidates: int) -> Decision:
    """Every replica has the beginning of the prompt, as of a system prompt."""
    fleet = _Fleet(candidates).fill()
    prompt = fleet.prompt()
    for replica in fleet.replicas:
        fleet.send(replica, prompt[:SHARED_BYTES])
    return fleet.decision(prompt)


def own_prefix(candidates: int) -> Decision:
    """One replica has nearly all of the prompt, as of a conversation, and all have its beginning."""
    fleet = _Fleet(candidates).fill()
    prompt = fleet.prompt()
    for number, replica in enumerate(fleet.replicas):
        fleet.send(replica, prompt if number == candidates // 2 else prompt[:SHARED_BYTES])
    return fleet.decision(prompt)


def mixed(candidates: int) -> Decision:
    """In four pools."""
    return _Fleet(candidates, pools=POOLS).fill().decision()


def late(candidates: int) -> Decision:
    """With a promise that none can keep."""
    return _Fleet(candidates).fill().decision(ttft_slo_s=0.001)


def one_out(candidates: int) -> Decision:
    """One replica is ejected."""
    fleet = _Fleet(candidates).fill()
    one = fleet.health.of(fleet.replicas[-1].id)
    for _ in range(FAILURES):
        one.on_end(Outcome.BROKE, NOW_S, one.on_start(NOW_S, 0))
    return fleet.decision()


def one_back(candidates: int) -> Decision:
    """One replica was down until just now."""
    fleet = _Fleet(candidates).fill()
    *others, last = fleet.replicas
    for number, health in enumerate((Health.DOWN, Health.READY), 2):
        fleet.publish(FleetSnapshot.of(number, (*others, structs.replace(last, health=health))))
    return fleet.decision()


def in_region(candidates: int) -> Decision:
    """The key's requests are answered in one of two regions."""
    return _Fleet(2 * candidates, regions=REGIONS).fill().decision(regions=frozenset(REGIONS[:1]))


SITUATIONS: dict[str, Callable[[int], Decision]] = {
    "idle": idle,
    "busy": busy,
    "shared prefix": shared_prefix,
    "own prefix": own_prefix,
    "four pools": mixed,
    "all late": late,
    "one ejected": one_out,
    "one come back": one_back,
    "one region": in_region,
}


class _Fleet:
    """Replicas of one model, and everything that decides between them."""

    def __init__(self, count: int, *, pools: int = 1, regions: tuple[str, ...] = ("here",)) -> None:
        self.chance = Random(count)
        self.replicas = tuple(
            Replica(
                id=ReplicaId(f"replica-{number}"),
                pool=PoolName(f"pool-{number % pools}"),
                model=MODEL,
                engine="openai",
                host="h",
                port=1,
                region=regions[number % len(regions)],
                health=Health.READY,
            )
            for number in range(count)
        )
        snapshot = FleetSnapshot.of(1, self.replicas)
        self.health = FleetHealth(RoutingSettings(), snapshot, 0.0)
        self.router = Router(snapshot, prior_of=lambda _: PRIOR, chance=self.chance.random, now_s=0.0)
        self.fallback = FallbackRouter(
            snapshot,
            self.health,
            self.router,
            fields=_AnyFields(),
            nearness=lambda _, __: Nearness.HELD,
            chance=self.chance.random,
        )

    def publish(self, snapshot: FleetSnapshot) -> None:
        self.fallback.publish(snapshot)
        self.health.publish(snapshot, NOW_S)
        self.router.publish(snapshot, NOW_S)

    def fill(self) -> "_Fleet":
        """Requests of many lengths on every replica, some of which have answered."""
        for replica in self.replicas:
            for _ in range(self.chance.randint(1, IN_FLIGHT_MAX)):
                self.send(replica, self.chance.randbytes(self.chance.randint(100, PROMPT_BYTES)))
        return self

    def send(self, replica: Replica, prompt: bytes) -> None:
        routing_request = _routing_request(prompt)
        ticket = self.router.start(
            routing_request, self.router.forecast(routing_request, replica.id, NOW_S - 1.0), NOW_S - 1.0
        )
        if self.chance.random() < 0.8:
            ticket.first_token(NOW_S - 0.5)

    def prompt(self) -> bytes:
        return self.chance.randbytes(PROMPT_BYTES)

    def decision(
        self, prompt: bytes = b"", *, ttft_slo_s: float = float("inf"), regions: frozenset[str] | None = None
    ) -> Decision:
        routing_request = _routing_request(prompt or self.prompt())
        routing_request.ttft_slo_s, routing_request.regions = ttft_slo_s, regions
        request = Request(id="1", operation=Operation.CHAT, model=MODEL, body=b"")
        return Decision(router=self.fallback, request=request, routing_request=routing_request)


class _AnyFields:
    """Every replica knows every field."""

    def able(self, request: Request, replicas: Sequence[Replica]) -> Sequence[Replica]:
        return replicas

    def check(self, request: Request, replicas: Sequence[Replica]) -> None:
        return


def _routing_request(prompt: bytes) -> RoutingRequest:
    return RoutingRequest(
        model=MODEL,
        prompt_tokens=int(len(prompt) * TOKENS_PER_BYTE),
        output_tokens=OUTPUT_TOKENS,
        chain=chain_of(SALT, prompt, TOKENS_PER_BYTE),
    )
