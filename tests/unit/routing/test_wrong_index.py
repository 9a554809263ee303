"""What the prefix index says is wrong now and then: engines restart, drop their caches silently, or count badly."""

from collections import Counter
from collections.abc import Callable
from heapq import heappop, heappush
from random import Random

import pytest

from heterodyne.domain.fleet import Replica
from heterodyne.routing.kv.chain import chain_of_blocks
from heterodyne.routing.kv.trust import PRIOR
from heterodyne.routing.router import Router
from heterodyne.routing.ticket import Ticket
from tests.support.replica_states import replica, router, routing_request

BLOCK_TOKENS = 100
BLOCKS = 10  # shared by all requests of a topic; one more is each one's own
PROMPT_TOKENS = BLOCK_TOKENS * (BLOCKS + 1)
NAMES = ("a", "b", "c", "d")
Report = Callable[[int], int | None]  # what an engine says of the tokens it really had


def honestly(cached_tokens: int) -> int | None:
    return cached_tokens


class Engine:
    """Computes prompts one after another and remembers every topic it has seen."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.topics: set[int] = set()
        self.free_at_s = 0.0

    def take(self, topic: int, now_s: float) -> tuple[float, int]:
        """When its first token comes, and how much it had."""
        cached = BLOCKS * BLOCK_TOKENS if topic in self.topics else 0
        self.topics.add(topic)
        self.free_at_s = max(self.free_at_s, now_s) + 1e-4 * (PROMPT_TOKENS - cached)
        return self.free_at_s + 0.02, cached


class World:
    """Traffic over a few topics, four engines, and the real router between them."""

    def __init__(self, report: Report = honestly, *, only: str | None = None, seed: int = 1) -> None:
        self.random = Random(seed)
        self.replicas: list[Replica] = [replica(name) for name in NAMES]
        self.router: Router = router(*self.replicas, chance=self.random.random)
        self.engines = {name: Engine(report if only in (None, name) else honestly) for name in NAMES}
        self.now_s = 0.0
        self.number = 0
        self.sent: Counter[str] = Counter()
        self.cached_tokens = 0
        self.events: list[tuple[float, int, str, Ticket, int | None]] = []

    def run(self, requests: int, *, rate: float = 20.0, topics: int = 12) -> None:
        self.sent.clear()
        self.cached_tokens = 0
        for _ in range(requests):
            self.now_s += self.random.expovariate(rate)
            self.catch_up()
            self.arrive(self.random.randrange(topics))

    def arrive(self, topic: int) -> None:
        self.number += 1
        hashes = [topic * 100 + block for block in range(1, BLOCKS + 1)]
        chain = chain_of_blocks(b"salt", [*hashes, 1_000_000 + self.number], BLOCK_TOKENS)
        request = routing_request(PROMPT_TOKENS, 20.0, chain=chain, ttft_slo_s=1.0)
        choice = self.router.decide(request, self.replicas, self.now_s)
        assert 0.0 <= choice.forecast.cached_tokens <= BLOCKS * BLOCK_TOKENS  # never more than was sent there
        name = choice.target.id
        self.sent[name] += 1
        ticket = self.router.start(request, choice.forecast, self.now_s)
        first_at_s, cached = self.engines[name].take(topic, self.now_s)
        self.cached_tokens += cached
        heappush(self.events, (first_at_s, self.number, "first", ticket, None))
        reported = self.engines[name].report(cached)
        heappush(self.events, (first_at_s + 0.2, self.number, "last", ticket, reported))

    def catch_up(self, until_s: float | None = None) -> None:
        while self.events and self.events[0][0] <= (self.now_s if until_s is None else until_s):
            at_s, _, what, ticket, reported = heappop(self.events)
            if what == "first":
                ticket.first_token(at_s)
            else:
                ticket.end(at_s, output_tokens=20, cached_tokens=reported)

    def believed(self, name: str) -> float:
        """How far the index is believed there."""
        return self.router.forecast(routing_request(), name, self.now_s).state.trust

    def held(self, name: str, topic: int = 0) -> float:
        """Tokens of a topic that the router thinks are there."""
        hashes = [topic * 100 + block for block in range(1, BLOCKS + 1)]
        request = routing_request(PROMPT_TOKENS, chain=chain_of_blocks(b"salt", hashes, BLOCK_TOKENS))
        return self.router.forecast(request, name, self.now_s).cached_tokens

    @property
    def hit_share(self) -> float:
        return self.cached_tokens / (BLOCKS * BLOCK_TOKENS * self.sent.total())

    @property
    def hottest(self) -> float:
        return max(self.sent.values()) / (self.sent.total() / len(NAMES))


def test_an_honest_fleet_is_warm_and_even() -> None:
    world = World()
    world.run(1000, rate=100.0)
    assert world.hit_share > 0.9
    assert world.hottest < 1.3
    assert min(world.believed(name) for name in NAMES) > 0.9


def test_a_restart_that_is_told_costs_one_cold_prompt_a_topic_and_no_trust() -> None:
    world = World()
    world.run(500)
    before = world.believed("b")
    world.engines["b"].topics.clear()
    world.router.on_memory_lost("b", world.now_s)
    assert sum(world.held("b", topic) for topic in range(12)) == 0
    world.run(500)
    assert world.hit_share > 0.9
    assert world.believed("b") > before - 0.3
    assert world.sent["b"] > 25  # nobody shuns it for having restarted, though the topics are warm elsewhere


def test_a_silent_reset_is_noticed_within_a_few_answers_and_the_rest_forgotten() -> None:
    world = World()
    world.run(500)
    world.catch_up(world.now_s + 10)
    world.now_s += 10
    assert sum(world.held("b", topic) > 0 for topic in range(12)) >= 3
    engine = world.engines["b"]
    engine.topics.clear()
    engine.report = lambda cached: 0  # every topic is new to it
    asked_there = 0
    while world.believed("b") > 0.35 and asked_there < 20:
        world.run(1, rate=1.0)
        asked_there += world.sent["b"]
        world.catch_up(world.now_s + 5)
    assert 0 < asked_there <= 6


def test_after_a_silent_reset_the_fleet_is_as_warm_as_before() -> None:
    world = World()
    world.run(500)
    for engine in world.engines.values():
        engine.topics.clear()
    world.run(200)
    world.run(500)
    assert world.hit_share > 0.9
    assert min(world.believed(name) for name in NAMES) > 0.7


def test_an_engine_whose_cache_never_holds_is_left_to_what_the_warm_ones_have_no_time_for() -> None:
    world = World(lambda cached: 0, only="a")
    world.run(300, rate=250.0)
    assert world.believed("a") < 0.3
    world.run(1000, rate=250.0)
    assert 0 < world.sent["a"] < 250
    assert world.hottest < 1.5


@pytest.mark.parametrize(
    "lie",
    [
        lambda cached: PROMPT_TOKENS,  # all of it, always: no engine can
        lambda cached: 10 * PROMPT_TOKENS,
        lambda cached: -5,
        lambda cached: 2**63,
    ],
)
def test_a_counter_that_cannot_be_right_is_not_listened_to(lie: Report) -> None:
    world = World(lie)
    world.run(1000, rate=100.0)
    assert {world.believed(name) for name in NAMES} == {PRIOR}
    assert world.hottest < 1.3


def test_an_engine_that_always_claims_nearly_all_is_believed_no_further_than_what_was_sent() -> None:
    world = World(lambda cached: PROMPT_TOKENS - 1, only="a")
    world.run(1000, rate=100.0)
    assert world.believed("a") <= 1.0
    assert world.hottest < 1.3


def test_engines_that_never_say_are_believed_by_default_and_balanced_all_the_same() -> None:
    world = World(lambda cached: None)
    world.run(1000, rate=100.0)
    assert {world.believed(name) for name in NAMES} == {PRIOR}
    assert world.hit_share > 0.9
    assert world.hottest < 1.3


def test_a_counter_that_is_right_by_chance_ends_half_believed() -> None:
    coin = Random(5)
    world = World(lambda cached: cached if coin.random() < 0.5 else 0)
    world.run(1000, rate=100.0)
    assert 0.05 < sum(world.believed(name) for name in NAMES) / len(NAMES) < 0.95
    assert world.hottest < 1.3


def test_one_topic_that_everybody_asks_for_does_not_stay_on_one_replica() -> None:
    world = World()
    world.run(1000, rate=120.0, topics=1)
    assert world.hottest < 1.4
    assert world.hit_share > 0.9
