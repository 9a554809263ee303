"""Prompts are kept within bounds, found by what they begin with, and sent nowhere that their tenant may not be."""

from heterodyne.gateway.kv.recent_prompts import KEPT_S, PROMPTS_MAX, RecentPrompts
from heterodyne.gateway.kv.warm_up import chosen
from heterodyne.ports.engine_request import EngineRequest
from heterodyne.routing.kv.chain import Chain
from heterodyne.routing.kv.conversations import HotPrefix
from heterodyne.routing.routing_request import RoutingRequest
from tests.support.replica_states import replica, routing_request

HERE = replica("a", "p")


def of(*blocks: int, model: str = "m", regions: frozenset[str] | None = None) -> RoutingRequest:
    request = routing_request(100, chain=Chain(blocks, tuple(100 * (place + 1) for place in range(len(blocks)))))
    request.model, request.regions = model, regions
    return request


def call(size: int = 10) -> EngineRequest:
    return EngineRequest("/v1/chat/completions", b"x" * size)


def hot(*blocks: int) -> HotPrefix:
    return HotPrefix(of(*blocks).chain, 1.0)


def test_the_shortest_that_begins_so_is_found() -> None:
    prompts = RecentPrompts()
    prompts.note(call(30), HERE, of(1, 2, 3), 0.0)
    prompts.note(call(20), HERE, of(1, 2, 4), 0.0)
    prompts.note(call(10), HERE, of(1, 5), 0.0)
    found = prompts.try_shortest(hot(1, 2).chain, lambda _: True)
    assert found is not None
    assert found.request.chain.hashes == (1, 2, 4)
    assert prompts.try_shortest(hot(9).chain, lambda _: True) is None


def test_neither_their_number_nor_their_bytes_grow_without_end() -> None:
    prompts = RecentPrompts()
    for number in range(2 * PROMPTS_MAX):
        prompts.note(call(), HERE, of(number), 0.0)
    assert (len(prompts), prompts.byte_count) == (PROMPTS_MAX, 10 * PROMPTS_MAX)
    small = RecentPrompts(bytes_max=100)
    for number in range(20):
        small.note(call(30), HERE, of(number), 0.0)
        small.note(call(30), HERE, of(number), 0.0)
    assert (len(small), small.byte_count) == (3, 90)
    small.note(call(101), HERE, of(99), 0.0)
    assert (len(small), small.byte_count) == (0, 0)


def test_prompts_without_a_whole_block_are_not_kept() -> None:
    prompts = RecentPrompts()
    prompts.note(call(), HERE, of(), 0.0)
    assert len(prompts) == 0


def test_what_is_old_goes_and_so_do_those_of_models_that_want_none() -> None:
    prompts = RecentPrompts()
    prompts.note(call(), HERE, of(1), 0.0)
    prompts.note(call(), HERE, of(2), KEPT_S)
    prompts.note(call(), HERE, of(3, model="other"), KEPT_S)
    prompts.keep_only(frozenset({"m"}), KEPT_S + 1.0)
    assert (len(prompts), prompts.byte_count) == (1, 10)


def test_each_prefix_is_asked_by_one_prompt_the_hottest_first() -> None:
    prompts = RecentPrompts()
    for blocks in ((1, 2, 3), (1, 2, 4), (5, 6)):
        prompts.note(call(), HERE, of(*blocks), 0.0)
    found = chosen([hot(5), hot(1, 2), hot(1, 2, 3), hot(1), hot(9)], prompts, replica("new", "p"), 8)
    assert [one.request.chain.hashes for one in found] == [(5, 6), (1, 2, 3)]
    assert len(chosen([hot(5), hot(1, 2)], prompts, replica("new", "p"), 1)) == 1


def test_a_prompt_goes_neither_to_another_region_nor_to_another_engine() -> None:
    prompts = RecentPrompts()
    prompts.note(call(), replica("a", "p", region="eu", engine="vllm"), of(1, regions=frozenset({"eu"})), 0.0)
    there = {"eu": 1, "us": 0, None: 0}
    for region, count in there.items():
        assert len(chosen([hot(1)], prompts, replica("new", "p", region=region, engine="vllm"), 8)) == count
    assert chosen([hot(1)], prompts, replica("new", "q", region="eu", engine="sglang"), 8) == ()
