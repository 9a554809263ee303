"""Which version a conversation gets while a rollout runs, and that it keeps it."""

import pytest
from msgspec import structs

from heterodyne.domain.fleet import PoolName, Replica, ReplicaId
from heterodyne.domain.rollout_split import RolloutSplit
from heterodyne.routing.arms import Arms, draw

NAMES = [f"conversation {number}" for number in range(4000)]


def split(share: float, before: float = 0.0, rollout: str = "r1") -> RolloutSplit:
    return RolloutSplit(
        rollout=rollout, candidate_pools=("new",), baseline_pools=("old",), share=share, share_before=before
    )


def drawn(arms: Arms, of: RolloutSplit, *, goes_on: bool = False) -> set[str]:
    """Those that the candidate has."""
    return {name for name in NAMES if arms.arm(of, name, goes_on=goes_on).is_candidate}


def test_as_many_as_the_share_says_begin_on_the_candidate() -> None:
    assert 0.03 < len(drawn(Arms(), split(0.05))) / len(NAMES) < 0.07
    assert drawn(Arms(), split(0.0)) == set()
    assert drawn(Arms(), split(1.0)) == set(NAMES)


def test_all_workers_draw_alike_and_another_rollout_draws_others() -> None:
    one, other = drawn(Arms(), split(0.25)), drawn(Arms(), split(0.25))
    assert one == other
    assert len(one & drawn(Arms(), split(0.25, rollout="r2"))) < 0.4 * len(one)
    assert all(0 <= draw("r1", name) < 1 for name in NAMES)


def test_what_was_drawn_stays_while_the_share_grows() -> None:
    arms = Arms()
    first = drawn(arms, split(0.01))
    assert drawn(arms, split(0.5, 0.25)) == first
    assert drawn(arms, split(1.0, 0.5)) == first, "also when all others are on the candidate"


def test_one_that_goes_on_and_nobody_remembers_began_under_the_stage_before() -> None:
    began = drawn(Arms(), split(0.05, 0.01))
    assert drawn(Arms(), split(0.25, 0.05), goes_on=True) == began
    assert drawn(Arms(), split(0.01, 0.0), goes_on=True) == set(), "it began before the rollout did"


def test_a_version_that_was_taken_back_keeps_nobody() -> None:
    arms = Arms()
    assert drawn(arms, split(1.0)) == set(NAMES)
    assert drawn(arms, split(0.0)) == set()


def test_workers_hear_of_each_other_s_conversations() -> None:
    one, other = Arms(), Arms()
    began = drawn(one, split(0.25, 0.05))
    while (message := one.take()) is not None:
        other.hear(message)
    heard = [name for name in NAMES if ("r1", name) in other._known]
    assert len(heard) >= 2000, "as many as wait to be told at most"
    of = split(0.5, 0.25)
    assert {name for name in heard if other.arm(of, name, goes_on=True).is_candidate} == began & set(heard)
    with pytest.raises(ValueError, match="malformed"):
        other.hear(b"\xc1 no message")


def test_it_remembers_so_many_and_no_more() -> None:
    arms = Arms(conversations_max=100)
    drawn(arms, split(0.5))
    assert len(arms._known) == 100


def test_both_sides_are_all_replicas() -> None:
    replicas = [
        Replica(id=ReplicaId(f"{pool}-0"), pool=PoolName(pool), model="m", engine="vllm", host="h", port=1)
        for pool in ("old", "new", "other")
    ]
    arms = Arms()
    sides = {name: arms.arm(split(0.5), name, goes_on=False) for name in NAMES[:50]}
    found = {arm.is_candidate: [one.pool for one in arm.of(replicas)] for arm in sides.values()}
    assert found == {True: ["new"], False: ["old", "other"]}
    over = structs.replace(split(1.0, 0.5), is_completed=True)
    after = [one.pool for one in arms.arm(over, "one that begins", goes_on=False).of(replicas)]
    assert after == ["new", "other"], "what came later is on the side that serves"
