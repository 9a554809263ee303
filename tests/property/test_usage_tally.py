"""One walk over records makes the sums that many walks would."""

from collections import defaultdict
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from heterodyne.domain.history import Sums
from heterodyne.domain.minutes import merged_sums
from heterodyne.domain.usage import UsageRecord
from heterodyne.domain.usage_tally import UsageTally
from tests.support.plain_sums import sums_of
from tests.support.usage_records import record

NOON = 1_793_534_400
NAMES = st.sampled_from(["a", "b"])
TIMES = st.one_of(st.none(), st.floats(0, 1e5))
RECORDS = st.builds(
    lambda number, at, **other: record(number, at=at, **other),
    st.integers(0, 9999),
    st.floats(NOON - 90_000, NOON + 90_000),
    organisation=NAMES,
    project=NAMES,
    key=NAMES,
    model=NAMES,
    pool=st.sampled_from(["", "p"]),
    hardware=NAMES,
    tier=NAMES,
    urgency=NAMES,
    replica=NAMES,
    reason=st.sampled_from(["", "", "stalled", "queue_full"]),
    total_ms=st.floats(0, 1e6),
    ttft_ms=TIMES,
    predicted_ttft_ms=TIMES,
    itl_ms=TIMES,
    queue_ms=TIMES,
    retries=st.integers(0, 2),
    is_hedged=st.booleans(),
    is_hosted_price=st.booleans(),
    usd_micro=st.integers(0, 10**9),
    replica_s=st.floats(0, 1e4),
    promise=st.sampled_from(["", "kept", "broken"]),
)


@given(st.lists(RECORDS, max_size=40))
def test_days_are_those_of_their_records(records: list[UsageRecord]) -> None:
    by_day: dict[tuple[str, ...], list[UsageRecord]] = defaultdict(list)
    for one in records:
        day = datetime.fromtimestamp(one.at, UTC).strftime("%Y-%m-%d")
        who = (one.organisation, one.project, one.key)
        by_day[(day, *who, one.model, one.pool, one.urgency, one.tier, one.hardware)].append(one)
    days = UsageTally(records).days
    assert set(days) == set(by_day)
    for key, some in by_day.items():
        day = days[key]
        assert day.requests == len(some)
        assert day.errors == sum(bool(one.reason) for one in some)
        assert day.prompt_tokens == sum(one.prompt_tokens for one in some)
        assert day.completion_tokens == sum(one.completion_tokens for one in some)
        assert day.usd_micro == sum(one.usd_micro for one in some)
        assert day.hosted_usd_micro == sum(one.usd_micro for one in some if one.is_hosted_price)
        assert day.replica_us == sum(round(one.replica_s * 1e6) for one in some)


@given(st.lists(RECORDS, max_size=40))
def test_cells_are_those_of_their_records(records: list[UsageRecord]) -> None:
    by_cell: dict[tuple[object, ...], list[UsageRecord]] = defaultdict(list)
    for one in records:
        when = int(one.at // 60) * 60, int(one.at + one.total_ms / 1000)
        by_cell[(*when, one.model, one.pool, one.hardware, one.tier, one.urgency)].append(one)
    cells = UsageTally(records).cells
    assert {key: cell.requests for key, cell in cells.items()} == {key: len(some) for key, some in by_cell.items()}
    whole, expected = merged_sums(cell.sums() for cell in cells.values()), sums_of(records)
    for name in Sums.__struct_fields__:
        found, wanted = getattr(whole, name), getattr(expected, name)
        if isinstance(wanted, int):
            assert found == wanted, name
        else:
            assert found.counts == wanted.counts, name
