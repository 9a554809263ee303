"""Which version a conversation gets while a rollout runs, and that it keeps it."""

import pytest
from msgspec import structs

from heterodyne.domain.fleet import PoolName, Replica, ReplicaId
from heterodyne.domain.rollout_split import RolloutSplit
from heterodyne.routing.arms import Arms, Side, draw

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


def on_side(arms: Arms, of: RolloutSplit, side: Side, *, goes_on: bool = False) -> set[str]:
    return {name for name in NAMES if arms.arm(of, name, goes_on=goes_on).side is side}


def controlled(share: float, before: float = 0.0) -> RolloutSplit:
    return structs.replace(split(share, before), candidate_replicas=("new-0",), control_replicas=("old-0",))


def test_the_control_group_gets_as_many_as_the_candidate_and_others() -> None:
    arms = Arms()
    candidate, control = (on_side(arms, controlled(0.25), side) for side in (Side.CANDIDATE, Side.CONTROL))
    assert not candidate & control
    assert 0.22 < len(candidate) / len(NAMES) < 0.28
    assert 0.22 < len(control) / len(NAMES) < 0.28
    assert on_side(Arms(), split(0.25), Side.CONTROL) == set(), "without a group there is none"
    assert drawn(Arms(), split(0.25)) == candidate, "who the candidate gets does not depend on it"


def test_conversations_of_the_control_group_stay_in_it_while_the_share_grows() -> None:
    """Or it would have all turns of old conversations at once, where the candidate has new ones alone."""
    arms = Arms()
    control = on_side(arms, controlled(0.01), Side.CONTROL)
    assert control
    assert on_side(arms, controlled(0.05, 0.01), Side.CONTROL) == control
    heard = Arms()
    while (message := arms.take()) is not None:
        heard.hear(message)
    known = {name for name in control if heard.is_known(split(0.05), name)}
    assert known <= on_side(heard, controlled(0.05, 0.01), Side.CONTROL)
    assert on_side(Arms(), controlled(0.05, 0.01), Side.CONTROL, goes_on=True) == control


def test_each_group_has_its_own_replicas_and_all_of_its_version_where_it_has_lost_them() -> None:
    old, new = (
        [
            Replica(id=ReplicaId(f"{pool}-{n}"), pool=PoolName(pool), model="m", engine="vllm", host="h", port=1)
            for n in range(3)
        ]
        for pool in ("old", "new")
    )
    arms = {arm.side: arm for name in NAMES[:50] for arm in [Arms().arm(controlled(0.3), name, goes_on=False)]}

    def ids(side: Side, replicas: list[Replica]) -> list[str]:
        return [one.id for one in arms[side].nearest(arms[side].of(replicas))]

    assert ids(Side.CANDIDATE, old + new) == ["new-0"]
    assert ids(Side.CONTROL, old + new) == ["old-0"]
    assert ids(Side.BASELINE, old + new) == ["old-1", "old-2"]
    assert ids(Side.CANDIDATE, new[1:]) == ["new-1", "new-2"]
    assert ids(Side.CONTROL, old[1:]) == ["old-1", "old-2"]
    assert ids(Side.BASELINE, old[:1]) == ["old-0"]
