"""KV is moved ahead of need where that is likely to save more than it takes, and nowhere else."""

from msgspec import structs

from heterodyne.domain.kv_origin import KvOrigin
from heterodyne.domain.routing_rule import KvStrategy, RoutingRule
from heterodyne.routing.replica_state import ReplicaState
from tests.support.kv_fleets import LINKED, KvFleet, asked, copying
from tests.support.replica_states import fleet

SLOW = structs.replace(LINKED, kv_link_bytes_per_s=0.1e9)


def state(one: KvFleet, name: str) -> ReplicaState:
    found = one.router.state(next(each.id for each in one.fleet.replicas if each.id == name))
    assert found is not None
    return found


def talked(one: KvFleet) -> None:
    """Four conversations with `a`, a turn each every forty seconds."""
    for turn in range(1, 4):
        for words in (b"w", b"x", b"y", b"z"):
            one.serve(asked(5_000 * turn, words=words), "a", times=1)


def test_a_new_replica_is_given_what_is_wanted_most() -> None:
    one = KvFleet(copying("a"), copying("new"))
    talked(one)
    moves = one.router.kv_moves(one.now_s).warm_up(state(one, "new"), 2)
    assert len(moves) == 2
    assert all((move.origin, move.source) == (KvOrigin.PEER, state(one, "a")) for move in moves)
    assert moves[0].worth_s >= moves[1].worth_s > 0.0


def test_over_a_slow_link_nothing_is_moved() -> None:
    one = KvFleet(copying("a"), copying("new"), priors={"p": SLOW})
    talked(one)
    assert one.router.kv_moves(one.now_s).warm_up(state(one, "new"), 8) == []


def test_a_replica_of_another_layout_is_given_nothing() -> None:
    one = KvFleet(copying("a"), copying("new", "q", kv_layout="M"))
    talked(one)
    assert one.router.kv_moves(one.now_s).warm_up(state(one, "new"), 8) == []


def test_a_replica_that_leaves_hands_its_conversations_to_those_least_busy() -> None:
    one = KvFleet(copying("a"), copying("b"), copying("c"))
    talked(one)
    one.occupy("b", prompts=4)
    moves = one.router.kv_moves(one.now_s).hand_over(state(one, "a"), 10)
    assert moves
    assert {move.target.replica.id for move in moves} == {"c"}
    assert all(move.source is state(one, "a") for move in moves)


def test_conversations_are_spread_over_those_that_take_them() -> None:
    one = KvFleet(copying("a"), copying("b"), copying("c"))
    talked(one)
    moves = one.router.kv_moves(one.now_s).hand_over(state(one, "a"), 10)
    assert {move.target.replica.id for move in moves} == {"b", "c"}


def test_a_replica_that_leaves_has_nothing_to_give_where_nobody_may_take_it() -> None:
    one = KvFleet(copying("a"), copying("b"))
    talked(one)
    drained = fleet(copying("a"), copying("b", is_draining=True), rule=RoutingRule(kv=KvStrategy.AUTO))
    one.router.publish(drained, one.now_s)
    assert one.router.kv_moves(one.now_s).hand_over(state(one, "a"), 10) == []


def test_a_conversation_that_is_likely_to_go_on_is_brought_back_from_the_host() -> None:
    one = KvFleet(copying("a", kv_host_bytes=10**11), copying("b"))
    talked(one)
    one.router._index.forget(0)
    moves = one.router.kv_moves(one.now_s).prefetch(5)
    assert moves
    assert {(move.origin, move.target.replica.id) for move in moves} == {(KvOrigin.HOST, "a")}


def test_a_conversation_that_is_still_there_is_left_alone() -> None:
    one = KvFleet(copying("a", kv_host_bytes=10**11), copying("b"))
    talked(one)
    assert one.router.kv_moves(one.now_s).prefetch(5) == []
