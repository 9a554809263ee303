"""The cheapest mix, on problems small enough to solve by hand."""

import pytest

from heterodyne.domain.errors import PlanImpossible
from heterodyne.planning.mix import cheapest_mix
from heterodyne.planning.mix_problem import MixProblem, ReplicaKind, TrafficBucket

SHORT = TrafficBucket(name="short", requests_per_s=10.0)
LONG = TrafficBucket(name="long", requests_per_s=1.0)
SMALL = ReplicaKind(name="small", usd_per_hour=1.0, requests_per_s={"short": 5.0})
LARGE = ReplicaKind(name="large", usd_per_hour=10.0, requests_per_s={"short": 20.0, "long": 2.0})


def problem(*kinds: ReplicaKind, **changes: object) -> MixProblem:
    fields: dict[str, object] = {"buckets": (SHORT, LONG), "kinds": kinds, "headroom": 0.0, **changes}
    return MixProblem(**fields)  # type: ignore[arg-type]


def test_each_bucket_goes_where_it_is_cheapest() -> None:
    plan = cheapest_mix(problem(SMALL, LARGE))
    # The large one is half idle with the long bucket and takes all of the short one for nothing.
    assert plan.replicas == {"large": 1}
    assert plan.usd_per_hour == 10.0


def test_a_mix_beats_every_kind_alone() -> None:
    many = TrafficBucket(name="short", requests_per_s=40.0)
    plan = cheapest_mix(problem(SMALL, LARGE, buckets=(many, LONG)))
    assert plan.replicas == {"small": 6, "large": 1}
    assert plan.usd_per_hour == 16.0
    assert plan.single_kind_usd_per_hour == {"large": 30.0}


def test_headroom_is_kept_free() -> None:
    plan = cheapest_mix(problem(LARGE, buckets=(LONG,), headroom=0.6))
    assert plan.replicas == {"large": 2}
    assert plan.utilisation["large"] == pytest.approx(0.25)


def test_a_spare_carries_critical_load_after_a_loss() -> None:
    critical = TrafficBucket(name="long", requests_per_s=2.0, is_critical=True)
    assert cheapest_mix(problem(LARGE, buckets=(critical,))).replicas == {"large": 1}
    assert cheapest_mix(problem(LARGE, buckets=(critical,), survives_one_loss=True)).replicas == {"large": 2}


def test_critical_load_never_runs_on_spot_capacity() -> None:
    spot = ReplicaKind(name="spot", usd_per_hour=1.0, requests_per_s={"short": 20.0, "long": 2.0}, is_spot=True)
    critical = TrafficBucket(name="long", requests_per_s=1.0, is_critical=True)
    plan = cheapest_mix(problem(spot, LARGE, buckets=(SHORT, critical)))
    assert plan.shares["long"] == {"large": pytest.approx(1.0)}


def test_spot_capacity_stays_within_its_share() -> None:
    spot = ReplicaKind(name="spot", usd_per_hour=0.1, requests_per_s={"short": 1.0}, is_spot=True)
    owned = ReplicaKind(name="owned", usd_per_hour=1.0, requests_per_s={"short": 1.0})
    plan = cheapest_mix(problem(spot, owned, buckets=(SHORT,), spot_share_max=0.5))
    assert plan.replicas == {"spot": 5, "owned": 5}


def test_the_least_wanted_number_is_planned() -> None:
    kept = ReplicaKind(name="small", usd_per_hour=1.0, requests_per_s={"short": 5.0}, minimum=3)
    assert cheapest_mix(problem(kept, LARGE)).replicas["small"] == 3


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (problem(SMALL), "buckets.long: no kind keeps its service level"),
        (problem(LARGE, buckets=()), "at least one bucket"),
        (problem(LARGE, headroom=1.0), "headroom: 1 is not a share"),
        (problem(LARGE, buckets=(TrafficBucket(name="long", requests_per_s=-1.0),)), "-1 is no rate"),
        (problem(ReplicaKind(name="x", usd_per_hour=float("nan"), requests_per_s={})), "nan is no price"),
        (
            problem(
                ReplicaKind(name="large", usd_per_hour=1.0, requests_per_s={"short": 1.0, "long": 1.0}, available=2)
            ),
            "without the limits on availability",
        ),
    ],
)
def test_an_impossible_question_says_why(asked: MixProblem, says: str) -> None:
    with pytest.raises(PlanImpossible, match=says):
        cheapest_mix(asked)
