"""llm-d: the weighed scores, and sticky until saturated."""

from heterodyne.domain.engine_load import EngineLoad
from heterodyne.routing.peers.llm_d import LlmD
from heterodyne.routing.peers.llm_d_prefixes import LlmDPrefixes
from heterodyne.routing.peers.llm_d_sticky import LlmDSticky
from tests.unit.routing.peers.replica_states import chain, first, last, replica_state, routing_request, three


def test_a_full_prefix_match_outweighs_the_longest_queue() -> None:
    a = replica_state("a", 0, load=EngineLoad(waiting=0, kv_share=0.5))
    b = replica_state("b", 1, load=EngineLoad(waiting=10, kv_share=0.5))
    picker = LlmD()
    picker.on_start(routing_request(400, chain(1, 2, 3, 4)), b, 0.0)
    # The scores: 3 of a (queue 2, KV 1), 4 of b (KV 1, prefix 3).
    assert picker.pick(routing_request(400, chain(1, 2, 3, 4)), (a, b), 0.0, first) is b
    # Half a match: b is 0 + 1 + 1.5 = 2.5.
    assert picker.pick(routing_request(400, chain(1, 2, 8, 9)), (a, b), 0.0, last) is a


def test_a_queue_counts_by_where_it_lies_between_the_shortest_and_the_longest() -> None:
    a = replica_state("a", 0, load=EngineLoad(waiting=0, kv_share=0.9))
    b = replica_state("b", 1, load=EngineLoad(waiting=4, kv_share=0.0))
    c = replica_state("c", 2, load=EngineLoad(waiting=8, kv_share=0.0))
    # The scores: 2.2 of a (queue 2, KV 0.2), 3 of b (1 and 2), 2 of c (0 and 2).
    assert LlmD().pick(routing_request(), (a, b, c), 0.0, first) is b


def test_an_engine_that_says_nothing_looks_idle_and_ties_fall_by_chance() -> None:
    silent, other = replica_state("a", 0), replica_state("b", 1, load=EngineLoad(waiting=0, kv_share=0.0))
    assert LlmD().pick(routing_request(), (silent, other), 0.0, first) is silent
    assert LlmD().pick(routing_request(), (silent, other), 0.0, last) is other


def test_the_index_remembers_as_many_blocks_as_the_engine_has_each_of_64_tokens_at_least() -> None:
    prefixes, a = LlmDPrefixes(), replica_state("a", 0, load=EngineLoad(kv_tokens=160, block_tokens=16))
    many = chain(*range(12), block_tokens=64)
    prefixes.note(routing_request(768, many), a)
    assert prefixes.shares(routing_request(768, many), (a,)) == [10 / 12]


def test_a_silent_engine_is_held_to_have_31250_blocks() -> None:
    prefixes, a = LlmDPrefixes(), replica_state("a", 0)
    for start in range(0, 40_000, 2000):
        prefixes.note(routing_request(128_000, chain(*range(start, start + 2000), block_tokens=64)), a)
    # 40,000 blocks were sent; the first 8750 and with them the tail of the fifth prompt are forgotten.
    assert prefixes.shares(routing_request(128_000, chain(*range(2000), block_tokens=64)), (a,)) == [0.0]
    assert prefixes.shares(routing_request(128_000, chain(*range(8000, 10_000), block_tokens=64)), (a,)) == [
        1250 / 2000
    ]


def test_prompts_count_up_to_131072_tokens() -> None:
    prefixes, a = LlmDPrefixes(), replica_state("a", 0)
    long = chain(*range(3000), block_tokens=64)
    prefixes.note(routing_request(192_000, long), a)
    assert prefixes._book.index.entries == 2048
    assert prefixes.shares(routing_request(192_000, long), (a,)) == [1.0]


def test_a_warm_replica_is_kept_to_until_it_lags_by_18_seconds_of_prompts() -> None:
    picker, (a, b, c) = LlmDSticky(), three()
    picker.on_start(routing_request(1000, chain(*range(10))), c, 0.0)
    request = routing_request(1000, chain(*range(8), 98, 99))  # 0.8 of it
    c.waiting_tokens = 286_704.0  # 15,928 tokens a second for 18 s
    assert picker.pick(request, (a, b, c), 0.0, first) is c
    c.waiting_tokens = 286_705.0
    assert picker.pick(request, (a, b, c), 0.0, last) is b
    a.waiting_tokens = b.waiting_tokens = 1.0
    assert picker.pick(request, (a, b, c), 0.0, first) is c


def test_less_than_eight_tenths_is_not_warm_but_still_lightens_the_load() -> None:
    picker, (a, b, c) = LlmDSticky(), three()
    picker.on_start(routing_request(1000, chain(*range(10))), c, 0.0)
    request = routing_request(1000, chain(*range(7), 97, 98, 99))
    # a and b: 1000 tokens; c: what it has waiting and the 300 it lacks.
    c.waiting_tokens = 699.0
    assert picker.pick(request, (a, b, c), 0.0, first) is c
    c.waiting_tokens = 701.0
    assert picker.pick(request, (a, b, c), 0.0, first) is a


def test_of_several_warm_replicas_the_least_loaded_is_taken() -> None:
    picker, (a, b, c) = LlmDSticky(), three()
    for one in (b, c):
        picker.on_start(routing_request(1000, chain(*range(10))), one, 0.0)
    b.waiting_tokens, c.waiting_tokens = 50.0, 20.0
    assert picker.pick(routing_request(1000, chain(*range(10))), (a, b, c), 0.0, first) is c
