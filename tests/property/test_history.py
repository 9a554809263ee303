"""Whatever is added, however often and in whatever order: minutes add up to what the records add up to."""

import asyncio

from hypothesis import given, settings
from hypothesis import strategies as st

from heterodyne.domain.history import HistoryGroup, HistoryQuery
from heterodyne.domain.usage import UsageRecord
from tests.support.examples import examples
from tests.support.history_checks import check_history
from tests.support.inline_books import InlineBooks
from tests.support.usage_records import record

MINUTES = 10
MS = st.none() | st.floats(0, 1e9)
RECORDS = st.builds(
    record,
    st.integers(0, 40),  # so that some are repeated
    at=st.floats(0, MINUTES * 60, exclude_max=True),
    model=st.sampled_from(["a", "b", "other"]),
    pool=st.sampled_from(["", "h100"]),
    tier=st.sampled_from(["gold", "free"]),
    reason=st.sampled_from(["", "stalled"]),
    completion_tokens=st.integers(0, 10**6),
    queue_ms=MS,
    ttft_ms=MS,
    itl_ms=MS,
    total_ms=st.floats(0, 1e9),
    predicted_ttft_ms=MS,
    predicted_itl_ms=MS,
    retries=st.integers(0, 2),
    replica_s=st.floats(0, 1e4),
    promise=st.sampled_from(["", "kept", "broken"]),
)
QUERIES = st.builds(
    lambda start, length, steps, by, where: HistoryQuery(
        since_at=start, until_at=start + length, step_s=60 * steps, by=tuple(by), where=where
    ),
    st.floats(0, MINUTES * 60),
    st.floats(1, MINUTES * 60),
    st.integers(1, 7),
    st.lists(st.sampled_from(HistoryGroup), unique=True),
    st.dictionaries(st.sampled_from([HistoryGroup.MODEL, HistoryGroup.POOL]), st.sampled_from(["a", "h100", ""])),
)


@given(st.lists(st.lists(RECORDS, max_size=12), max_size=5), QUERIES)
@settings(max_examples=examples(80), deadline=None)
def test_minutes_add_up_to_what_their_records_do(batches: list[list[UsageRecord]], query: HistoryQuery) -> None:
    async def check() -> None:
        store = InlineBooks()
        kept: dict[str, UsageRecord] = {}
        for batch in batches:
            for one in (await store.add(batch)).records:
                assert one.id not in kept
                kept[one.id] = one
        check_history(await store.history(query), query, kept.values())
        store.close()

    asyncio.run(check())
