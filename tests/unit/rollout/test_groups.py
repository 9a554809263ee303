"""Which replicas of both sides a canary compares, so that both have the same load."""

from hypothesis import given
from hypothesis import strategies as st

from heterodyne.domain.fleet import PoolName, Replica, ReplicaId
from heterodyne.rollout.groups import BASELINE_MIN, NO_GROUPS, trial_groups


def replicas(pool: str, count: int, hardware: str | None = None) -> list[Replica]:
    return [
        Replica(
            id=ReplicaId(f"{pool}-{number}"),
            pool=PoolName(pool),
            model="m",
            engine="vllm",
            host="h",
            port=1,
            hardware=hardware,
        )
        for number in range(count)
    ]


def test_a_hundredth_is_one_replica_s_work_and_half_is_everybody_s() -> None:
    old, new = replicas("old", 8), replicas("new", 8)
    assert trial_groups(0.01, new, old).candidate == ("new-0",)
    assert trial_groups(0.01, new, old).control == ("old-0",)
    assert [len(trial_groups(share, new, old).control) for share in (0.05, 0.25)] == [1, 3]
    assert trial_groups(0.5, new, old) == trial_groups(0.0, new, old) == NO_GROUPS


def test_a_small_baseline_spares_none() -> None:
    assert trial_groups(0.01, replicas("new", 4), replicas("old", BASELINE_MIN - 1)) == NO_GROUPS
    assert trial_groups(0.01, replicas("new", 4), replicas("old", BASELINE_MIN)) != NO_GROUPS


def test_a_candidate_with_too_few_replicas_is_compared_as_it_is() -> None:
    """It is slow for everybody then, and no control group may hide that."""
    assert trial_groups(0.25, replicas("new", 1), replicas("old", 8)) == NO_GROUPS


def test_the_control_group_has_the_candidate_s_hardware_where_the_baseline_has_it() -> None:
    old = [*replicas("a", 4, "l4"), *replicas("b", 4, "h100-sxm")]
    assert trial_groups(0.25, replicas("new", 8, "h100-sxm"), old).control == ("b-0", "b-1", "b-2")
    assert trial_groups(0.25, replicas("new", 8, "mi300x"), old).control == ("a-0", "a-1", "a-2")


@given(st.floats(0.0, 1.0), st.integers(0, 40), st.integers(0, 40))
def test_both_groups_are_alike_and_nobody_is_left_without_replicas(share: float, candidates: int, others: int) -> None:
    old, new = replicas("old", others), replicas("new", candidates)
    groups = trial_groups(share, new, old)
    assert len(groups.candidate) == len(groups.control) <= candidates
    if not groups.control:
        return
    assert 0.0 < share < 0.5
    rest = others - len(groups.control)
    assert rest > 0
    usual = 1.0 / others
    assert share / len(groups.control) <= 1.5 * usual, "neither group gets much more than a replica usually does"
    assert (1.0 - 2 * share) / rest <= usual * others / (others - 1) + 1e-9, "nor do the others, but for the one apart"
    assert groups == trial_groups(share, new[::-1], old[::-1]), "gateways that see the same choose the same"
