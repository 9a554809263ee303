"""The cheapest mix, on problems small enough to solve by hand."""

import pytest

from heterodyne.domain.errors import PlanImpossible
from heterodyne.domain.replica_role import ReplicaRole
from heterodyne.planning.mix.cheapest_mix import cheapest_mix
from heterodyne.planning.mix.problem import MixProblem, ReplicaKind, Stock, TrafficBucket

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


def test_prompts_and_answers_go_apart_where_that_is_cheaper() -> None:
    whole = ReplicaKind(name="whole", usd_per_hour=3.0, requests_per_s={"short": 1.0})
    prompts = ReplicaKind(name="prompts", usd_per_hour=1.0, requests_per_s={"short": 10.0}, role=ReplicaRole.PREFILL)
    answers = ReplicaKind(name="answers", usd_per_hour=1.0, requests_per_s={"short": 2.0}, role=ReplicaRole.DECODE)
    plan = cheapest_mix(problem(whole, prompts, answers, buckets=(SHORT,)))
    assert plan.replicas == {"prompts": 1, "answers": 5}
    assert plan.shares["short"] == {"prompts": pytest.approx(1.0), "answers": pytest.approx(1.0)}
    assert plan.single_kind_usd_per_hour == {"whole": 30.0}


def test_keys_and_values_pass_only_between_replicas_that_understand_each_other() -> None:
    rates = {"short": 10.0}
    whole = ReplicaKind(name="whole", usd_per_hour=9.0, requests_per_s=rates)
    prompts = ReplicaKind(name="prompts", usd_per_hour=1.0, requests_per_s=rates, role=ReplicaRole.PREFILL, handoff="a")
    answers = ReplicaKind(name="answers", usd_per_hour=1.0, requests_per_s=rates, role=ReplicaRole.DECODE, handoff="b")
    assert cheapest_mix(problem(whole, prompts, answers, buckets=(SHORT,))).replicas == {"whole": 1}
    with pytest.raises(PlanImpossible, match=r"buckets\.short: no kind"):
        cheapest_mix(problem(prompts, answers, buckets=(SHORT,)))


def test_a_spare_is_kept_for_each_role() -> None:
    critical = TrafficBucket(name="short", requests_per_s=10.0, is_critical=True)
    prompts = ReplicaKind(name="prompts", usd_per_hour=1.0, requests_per_s={"short": 10.0}, role=ReplicaRole.PREFILL)
    answers = ReplicaKind(name="answers", usd_per_hour=1.0, requests_per_s={"short": 5.0}, role=ReplicaRole.DECODE)
    plan = cheapest_mix(problem(prompts, answers, buckets=(critical,), survives_one_loss=True))
    assert plan.replicas == {"prompts": 2, "answers": 3}


def test_kinds_of_one_stock_share_its_chips() -> None:
    wide = ReplicaKind(name="wide", usd_per_hour=4.0, requests_per_s={"short": 5.0}, stock="chips", chips=4)
    slim = ReplicaKind(name="slim", usd_per_hour=1.0, requests_per_s={"short": 1.0}, stock="chips")
    asked = problem(wide, slim, buckets=(SHORT,), stocks=(Stock(name="chips", available=8),))
    assert cheapest_mix(asked).replicas == {"wide": 2}
    scarce = problem(wide, slim, buckets=(SHORT,), stocks=(Stock(name="chips", available=7),))
    with pytest.raises(PlanImpossible, match=r"without the limits on availability \(2 of wide, 8\.00 USD/hour\)"):
        cheapest_mix(scarce)


def test_chips_that_are_paid_for_anyhow_are_planned() -> None:
    slim = ReplicaKind(name="slim", usd_per_hour=1.0, requests_per_s={"short": 5.0}, stock="chips", chips=2)
    asked = problem(slim, LARGE, stocks=(Stock(name="chips", minimum=5),))
    plan = cheapest_mix(asked)
    assert plan.replicas["slim"] == 3
    assert "large" not in plan.single_kind_usd_per_hour


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (problem(SMALL), "buckets.long: no kind keeps its service level"),
        (problem(LARGE, buckets=()), "at least one bucket"),
        (problem(LARGE, headroom=1.0), "headroom: 1 is not a share"),
        (problem(LARGE, LARGE), 'kinds: two are named "large"'),
        (problem(LARGE, stocks=(Stock(name="chips", minimum=-1),)), "stocks.chips.minimum: -1"),
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
