"""The peers by name, and what holds for all of them."""

from random import Random

import pytest

from heterodyne.domain.engine_load import EngineLoad
from heterodyne.routing.kv.chain import EMPTY
from heterodyne.routing.peers.catalogue import PEERS, READS_PREFIXES, SUMMARIES
from heterodyne.routing.replica_state import ReplicaState
from tests.unit.routing.peers.replica_states import chain, ended, first, replica_state, routing_request, three


@pytest.mark.parametrize("name", PEERS)
def test_a_peer_is_known_by_the_name_it_gives_itself(name: str) -> None:
    assert PEERS[name]().name == name


def test_every_peer_is_described_and_nobody_else() -> None:
    assert list(SUMMARIES) == list(PEERS)
    assert set(PEERS) > READS_PREFIXES


@pytest.mark.parametrize("name", PEERS)
def test_only_those_that_read_prefixes_go_where_a_prompt_was_sent(name: str) -> None:
    picked = []
    for prompt in (chain(1, 2, 3), EMPTY):
        picker, replica_states = PEERS[name](), three()
        picker.on_start(routing_request(300, prompt), replica_states[2], 0.0)
        picker.on_end(routing_request(300, prompt), replica_states[2], ended(), 1.0)
        picked.append(picker.pick(routing_request(300, prompt), replica_states, 1.0, first).replica.id)
    assert (picked == ["c", "a"]) is (name in READS_PREFIXES)


@pytest.mark.parametrize("name", PEERS)
def test_a_peer_picks_one_of_the_seats_it_is_given_whoever_comes_and_goes(name: str) -> None:
    random, picker = Random(5), PEERS[name]()
    replica_states = [_replica_state(random, f"r{place}", place) for place in range(6)]
    in_flight = []
    for turn in range(600):
        if turn % 40 == 39:  # a replica leaves, another takes its place
            place = random.randrange(6)
            replica_states[place] = _replica_state(random, f"r{turn}", place)
        usable = random.sample(replica_states, random.randrange(1, 7))
        start = random.randrange(4)
        request = routing_request(
            700, chain(*((start, depth).__hash__() for depth in range(6))), session=random.choice(("", "s"))
        )
        picked = picker.pick(request, usable, float(turn), random.random)
        assert picked in usable
        picker.on_start(request, picked, float(turn))
        in_flight.append((request, picked))
        if len(in_flight) > 10:
            over, where = in_flight.pop(random.randrange(10))
            picker.on_end(over, where, ended(random.random(), ttft_s=random.random()), float(turn))


@pytest.mark.parametrize("name", PEERS)
def test_a_peer_picks_the_same_for_the_same_chance(name: str) -> None:
    assert _picks(name, seed=11) == _picks(name, seed=11)


def _picks(name: str, seed: int) -> list[str]:
    random, picker = Random(seed), PEERS[name]()
    replica_states = [_replica_state(random, f"r{place}", place) for place in range(6)]
    picked = []
    for turn in range(100):
        request = routing_request(300, chain(turn % 7, turn % 7 + 100), session=f"s{turn % 5}")
        target = picker.pick(request, replica_states, float(turn), random.random)
        picker.on_start(request, target, float(turn))
        picker.on_end(request, target, ended(random.random()), float(turn))
        picked.append(str(target.replica.id))
    return picked


def _replica_state(random: Random, name: str, place: int) -> ReplicaState:
    load = EngineLoad(waiting=random.randrange(5), kv_share=random.random(), kv_tokens=4000, block_tokens=16)
    return replica_state(name, place, load=load, in_flight=random.randrange(12), waiting_tokens=random.random() * 1000)
