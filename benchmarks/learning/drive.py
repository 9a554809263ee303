"""One engine behind the router that serves traffic: what is foretold of every request, and what comes."""

from collections import deque
from collections.abc import Sequence as Many
from random import Random

from msgspec import Struct, structs

from benchmarks.learning.engine import Costs, Engine, Sequence
from benchmarks.learning.engines import OUTPUT_TOKENS, PRIOR, PROMPT_TOKENS, Load, Strange
from heterodyne.domain.engine_load import EngineLoad
from heterodyne.domain.fleet import FleetSnapshot, Health, PoolName, Replica, ReplicaId
from heterodyne.domain.price import Price
from heterodyne.routing.prediction.output_length import OutputLengths
from heterodyne.routing.prediction.prior import Prior
from heterodyne.routing.router import Router
from heterodyne.routing.routing_request import RoutingRequest
from heterodyne.routing.ticket import Ticket

MODEL = "m"
GAUGES_S = 2.0  # between two readings of what the engine says of itself
TOKENS_MIN = 4  # of an answer, for the time between its tokens to say anything
REPLICA = Replica(
    id=ReplicaId("r"),
    pool=PoolName("p"),
    model=MODEL,
    engine="vllm",
    host="h",
    port=1,
    health=Health.READY,
    price=Price(usd_per_hour=1.0),
)


class Told(Struct, gc=False):
    """Of one request: how many had been answered when it was foretold, and how far off that was."""

    answered: int  # since its phase began
    phase: int
    ttft: float = 0.0  # predicted / measured; 0: not measured
    itl: float = 0.0
    is_ttft_covered: bool = False
    is_itl_covered: bool = False


class Asked(Struct):
    """One that is on its way."""

    ticket: Ticket
    told: Told
    sent_s: float
    output_tokens: int
    ttft_span: tuple[float, float]  # as they were foretold
    itl_span: tuple[float, float]
    first_s: float = 0.0


class Phase(Struct, frozen=True, kw_only=True):
    """So many requests of one kind of traffic on one engine."""

    engine: Strange
    load: Load
    requests: int


def drive(phases: Many[Phase], seed: int, prior: Prior = PRIOR) -> list[Told]:
    """All phases one after another, in the order that requests were sent."""
    run = _Run(phases[0].engine.costs, prior, Random(seed))
    for phase in phases:
        run.live(phase)
    run.finish()
    return run.told


class _Run:
    """Time, the engine and the router."""

    def __init__(self, costs: Costs, prior: Prior, random: Random) -> None:
        self.told: list[Told] = []
        self._random = random
        self._engine = Engine(costs, random)
        self._fleet = FleetSnapshot.of(1, (REPLICA,), {})
        self._router = Router(self._fleet, prior_of=lambda _: prior, chance=lambda: 0.5, now_s=0.0)
        self._lengths = OutputLengths()
        self._asked: dict[int, Asked] = {}
        self._due: deque[Sequence] = deque()  # on their way to the scheduler
        self._now_s = self._gauged_s = 0.0
        self._answered = 0
        self._phase = -1

    def live(self, phase: Phase) -> None:
        """Requests come as the load says."""
        self._engine.costs = costs = phase.engine.costs
        self._phase += 1
        self._answered = 0
        sent, next_s = 0, self._now_s
        while sent < phase.requests:
            if phase.load.at_once:
                while len(self._asked) < phase.load.at_once and sent < phase.requests:
                    self._send(self._now_s, costs)
                    sent += 1
            else:
                while next_s <= self._now_s and sent < phase.requests:
                    self._send(max(next_s, self._now_s), costs)
                    sent += 1
                    next_s += self._random.expovariate(phase.load.share * capacity_rps(costs))
                if not self._asked:
                    self._now_s = max(self._now_s, next_s)
                    continue
            self._step()

    def finish(self) -> None:
        """Until all are answered."""
        while self._asked:
            self._step()

    def _send(self, now_s: float, costs: Costs) -> None:
        random = self._random
        prompt_tokens = max(16, min(8000, round(PROMPT_TOKENS * random.lognormvariate(0.0, 0.8))))
        output_tokens = 2 + round(random.gammavariate(4.0, (OUTPUT_TOKENS - 2) / 4.0))
        request = RoutingRequest(
            model=MODEL, prompt_tokens=prompt_tokens, output_tokens=self._lengths.expect(MODEL, None)
        )
        forecast = self._router.forecast(request, REPLICA.id, now_s)
        told = Told(answered=self._answered, phase=self._phase)
        self.told.append(told)
        name = len(self.told)
        ticket = self._router.start(request, forecast, now_s)
        self._asked[name] = Asked(
            ticket,
            told,
            now_s,
            output_tokens,
            (forecast.ttft_low_s, forecast.ttft_high_s),
            (forecast.itl_low_s, forecast.itl_high_s),
        )
        self._due.append(Sequence(name, now_s + costs.ahead_s, prompt_tokens, output_tokens))

    def _step(self) -> None:
        engine = self._engine
        if engine.is_idle and self._due:
            self._now_s = max(self._now_s, self._due[0].arrived_s)
        while self._due and self._due[0].arrived_s <= self._now_s:
            engine.submit(self._due.popleft())
        if engine.is_idle:
            return
        took_s, began, ended = engine.step()
        self._now_s += took_s
        for name in began:
            self._begin(self._asked[name])
        for name in ended:
            self._end(self._asked.pop(name))
        if self._now_s - self._gauged_s >= GAUGES_S:
            self._gauge()

    def _begin(self, one: Asked) -> None:
        ttft_s, forecast = self._now_s - one.sent_s, one.ticket.forecast
        one.first_s = self._now_s
        one.told.ttft = forecast.ttft_s / ttft_s
        one.told.is_ttft_covered = one.ttft_span[0] <= ttft_s <= one.ttft_span[1]
        one.ticket.first_token(self._now_s)

    def _end(self, one: Asked) -> None:
        forecast, gaps = one.ticket.forecast, one.output_tokens - 1
        if one.output_tokens >= TOKENS_MIN:
            itl_s = (self._now_s - one.first_s) / gaps
            one.told.itl = forecast.itl_s / itl_s
            one.told.is_itl_covered = one.itl_span[0] <= itl_s <= one.itl_span[1]
        self._lengths.learn(MODEL, one.output_tokens)
        one.ticket.end(self._now_s, output_tokens=one.output_tokens)
        self._answered += 1

    def _gauge(self) -> None:
        running, waiting = self._engine.gauges
        self._gauged_s = self._now_s
        replica = structs.replace(REPLICA, load=EngineLoad(running=running, waiting=waiting), load_at_s=self._now_s)
        self._fleet = FleetSnapshot.of(self._fleet.version + 1, (replica,), {})
        self._router.publish(self._fleet, self._now_s)


def capacity_rps(costs: Costs) -> float:
    """Requests a second with every slot taken, prompts and answers of the usual length."""
    prompt = PROMPT_TOKENS * 1.38  # the mean of such a scatter
    context = costs.slots * (prompt + OUTPUT_TOKENS / 2)
    step_s = costs.step_s + costs.sequence_s * costs.slots + costs.context_token_s * context
    return 1.0 / (OUTPUT_TOKENS * step_s / costs.slots + costs.prompt_token_s * prompt)
