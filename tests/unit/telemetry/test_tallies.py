"""What is tallied comes out as what was added, bucket by bucket."""

from bisect import bisect_left

from hypothesis import given
from hypothesis import strategies as st

from heterodyne.telemetry.meters import LABEL_SETS_MAX, OVERFLOW, Counter, Histogram

BOUNDS = (0.001, 0.01, 0.1, 1.0)
NUMBERS = st.floats(min_value=0, max_value=10, allow_nan=False) | st.sampled_from(BOUNDS)


@given(st.lists(NUMBERS | st.none()))
def test_a_histogram_has_each_value_in_its_bucket_whenever_it_is_read(values: list[float | None]) -> None:
    """None: it is read there."""
    meter = Histogram("h", "Help.", ("model",), bounds=BOUNDS)
    tally = meter.tally(("m",))
    counts, total = [0.0] * (len(BOUNDS) + 1), 0.0
    for value in values:
        if value is None:
            meter.samples()
        else:
            tally.add(value)
            counts[bisect_left(BOUNDS, value)] += 1.0
            total += value
    (sample,) = meter.samples()
    assert sample.values[:-1] == counts
    assert abs(sample.values[-1] - total) < 1e-9


def test_a_tally_and_additions_to_the_meter_come_together() -> None:
    meter = Counter("c", "Help.", ("model",))
    meter.tally(("m",)).add(2.0)
    meter.add(("m",), 3.0)
    meter.tally(("m",)).add(4.0)
    assert [sample.values for sample in meter.samples()] == [[9.0]]
    assert [sample.values for sample in meter.samples()] == [[9.0]]


def test_label_sets_past_the_cap_share_one_tally() -> None:
    meter = Counter("c", "Help.", ("model",))
    for number in range(LABEL_SETS_MAX + 5):
        meter.tally((str(number),)).add(1.0)
    others = [sample for sample in meter.samples() if sample.labels == (OVERFLOW,)]
    assert [sample.values for sample in others] == [[5.0]]
    assert len(meter._tallies) == LABEL_SETS_MAX + 1
