"""Admission and the meters, for any state."""

from hypothesis import given
from hypothesis import strategies as st

from heterodyne.admission.concurrency_limit import ConcurrencyLimit
from heterodyne.admission.tokens import MODELS_MAX, TokenEstimator
from heterodyne.domain.errors import Overloaded
from heterodyne.domain.fleet import ReplicaId
from heterodyne.telemetry.exposition import merge
from heterodyne.telemetry.meters import LABEL_SETS_MAX, Counter, Sample
from tests.support.splits import bounded


@bounded
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 3)), max_size=60), st.integers(1, 5))
def test_a_house_counts_right_and_ends_empty(steps: list[tuple[bool, int]], in_flight_max: int) -> None:
    concurrency_limit, inside = ConcurrencyLimit(in_flight_max, retry_after_s=1), []
    for enters, number in steps:
        replica = ReplicaId(f"r{number}")
        if enters:
            try:
                concurrency_limit.check_room()
            except Overloaded:
                assert len(inside) >= in_flight_max
                continue
            concurrency_limit.enter()
            concurrency_limit.occupy(replica)
            inside.append(replica)
        elif replica in inside:
            inside.remove(replica)
            concurrency_limit.vacate(replica)
            concurrency_limit.leave()
        assert concurrency_limit.in_flight == len(inside) <= in_flight_max
        assert concurrency_limit.by_replica == {one: inside.count(one) for one in inside}
    for replica in inside:
        concurrency_limit.vacate(replica)
        concurrency_limit.leave()
    assert (concurrency_limit.in_flight, concurrency_limit.by_replica) == (0, {})


def test_no_number_of_models_makes_the_estimator_grow_for_ever() -> None:
    estimator = TokenEstimator()
    for number in range(MODELS_MAX + 100):
        estimator.learn(f"m{number}", 100, 25)
    assert len(estimator.error_ratio) == MODELS_MAX
    assert estimator.estimate(f"m{MODELS_MAX + 50}", 400) == 100


samples = st.lists(
    st.builds(
        lambda meter, label, value: Sample(meter, (label,), [float(value)]),
        st.sampled_from(["m", "n"]),
        st.sampled_from(["x", "y", "z"]),
        st.integers(0, 1000),
    ),
    max_size=8,
)


@bounded
@given(samples, samples, samples)
def test_meters_sum_to_the_same_in_any_order(one: list[Sample], two: list[Sample], three: list[Sample]) -> None:
    def totals(*sets: list[Sample]) -> dict[tuple[str, tuple[str, ...]], list[float]]:
        return {(sample.meter, sample.labels): sample.values for sample in merge(sets)}

    assert totals(one, two, three) == totals(three, one, two) == totals(list(merge([two, one])), three)


def test_no_number_of_label_sets_makes_a_meter_grow_for_ever() -> None:
    counter = Counter("c", "help", ("label",))
    for number in range(LABEL_SETS_MAX + 500):
        counter.add((str(number),))
    found = counter.samples()
    assert len(found) == LABEL_SETS_MAX + 1
    assert sum(sample.values[0] for sample in found) == LABEL_SETS_MAX + 500
    assert found[-1].labels == ("other",)
