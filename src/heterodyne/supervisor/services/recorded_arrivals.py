"""Requests of the books as arrivals for the planner and the simulator: when they came, and how long they were."""

from msgspec import Struct

from heterodyne.domain.usage import RequestQuery, UsageGroup, UsageRecord
from heterodyne.planning.traffic.trace_request import TraceRequest
from heterodyne.ports.books import BookStore

PAGE = 1000


class RecordedArrivals(Struct, frozen=True, kw_only=True):
    """The latest requests of a model in the order they came, and how many had no lengths to speak of."""

    arrivals: tuple[TraceRequest, ...]
    without_lengths: int  # refused before anything was counted


async def recorded_arrivals(
    books: BookStore, model: str, most: int, *, since_at: float | None = None, until_at: float | None = None
) -> RecordedArrivals:
    """At most so many records are looked at, the newest ones of the span."""
    records: list[UsageRecord] = []
    after = None
    while len(records) < most:
        page = await books.requests(
            RequestQuery(
                since_at=since_at,
                until_at=until_at,
                where={UsageGroup.MODEL: model},
                limit=min(PAGE, most - len(records)),
                after=after,
            )
        )
        records += page.records
        after = page.next
        if after is None:
            break
    arrivals = tuple(_arrival(one) for one in reversed(records) if one.prompt_tokens and one.completion_tokens)
    return RecordedArrivals(arrivals=arrivals, without_lengths=len(records) - len(arrivals))


def _arrival(record: UsageRecord) -> TraceRequest:
    return TraceRequest(
        at_s=record.at,
        prompt_tokens=record.prompt_tokens,
        output_tokens=record.completion_tokens,
        cached_tokens=record.cached_tokens,
        duration_s=record.total_ms / 1000,
    )
