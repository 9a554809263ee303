"""Usage as rows: the columns of a record, what records add to their days, and the filters of queries."""

from collections.abc import Iterable
from datetime import UTC, datetime
from operator import add

from heterodyne.domain.usage import UsageGroup, UsageRecord
from heterodyne.stores.script import Row

COLUMNS = (
    *("id", "at", "day", "organisation", "project", "key", "tier", "class", "operation", "model", "version", "pool"),
    *("replica", "hardware", "status", "reason", "prompt_tokens", "cached_tokens", "completion_tokens"),
    *("reasoning_tokens", "is_estimated", "queue_ms", "ttft_ms", "itl_ms", "total_ms", "predicted_ttft_ms"),
    *("predicted_itl_ms", "usd_micro", "is_hosted_price", "retries", "is_hedged", "continuations", "replica_us"),
)
DAY_COLUMNS = ("day", "organisation", "project", "key", "model", "pool", "class", "tier", "hardware")
SUM_COLUMNS = (
    *("requests", "errors", "prompt_tokens", "cached_tokens", "completion_tokens", "reasoning_tokens"),
    *("usd_micro", "hosted_usd_micro", "replica_us"),
)
MICRO = 1_000_000

Day = tuple[str, ...]
Sums = tuple[int, ...]


def unique(records: Iterable[UsageRecord]) -> dict[str, UsageRecord]:
    """By id and in its order, in which several gateways can write without waiting for each other in a circle."""
    by_id: dict[str, UsageRecord] = {}
    for record in records:
        by_id.setdefault(record.id, record)
    return dict(sorted(by_id.items()))


def record_row(record: UsageRecord) -> Row:
    """In the order of COLUMNS."""
    return (
        record.id,
        record.at,
        day_of(record.at),
        _text(record.organisation),
        _text(record.project),
        _text(record.key),
        _text(record.tier),
        _text(record.urgency),
        _text(record.operation),
        _text(record.model),
        _text(record.version),
        _text(record.pool),
        _text(record.replica),
        _text(record.hardware),
        record.status,
        _text(record.reason),
        record.prompt_tokens,
        record.cached_tokens,
        record.completion_tokens,
        record.reasoning_tokens,
        record.is_estimated,
        record.queue_ms,
        record.ttft_ms,
        record.itl_ms,
        record.total_ms,
        record.predicted_ttft_ms,
        record.predicted_itl_ms,
        record.usd_micro,
        record.is_hosted_price,
        record.retries,
        record.is_hedged,
        record.continuations,
        round(record.replica_s * MICRO),
    )


def record_of(row: Row) -> UsageRecord:
    """The record that became the row; times of replicas to the microsecond."""
    by_name = dict(zip(COLUMNS, row, strict=True))
    del by_name["day"]
    by_name["urgency"] = by_name.pop("class")
    by_name["replica_s"] = by_name.pop("replica_us") / MICRO
    for flag in ("is_estimated", "is_hosted_price", "is_hedged"):
        by_name[flag] = bool(by_name[flag])
    return UsageRecord(**by_name)


def daily_rows(records: Iterable[UsageRecord]) -> list[Row]:
    """What records add to their days, in one order for all who write."""
    days: dict[Day, Sums] = {}
    for record in records:
        day, sums = _day(record), _sums(record)
        before = days.get(day)
        days[day] = sums if before is None else tuple(map(add, before, sums))
    return [(*day, *sums) for day, sums in sorted(days.items())]


def day_of(at: float) -> str:
    """The UTC day of a moment."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d")


class Conditions:
    """A WHERE clause that grows, with its values apart from it."""

    def __init__(self) -> None:
        self._conditions: list[str] = []
        self.values: tuple[object, ...] = ()

    def add(self, condition: str, *values: object) -> None:
        """A condition whose places are written as {}."""
        first = len(self.values) + 1
        self._conditions.append(condition.format(*(f"${number}" for number in range(first, first + len(values)))))
        self.values += values

    def add_groups(self, where: dict[UsageGroup, str]) -> None:
        """One condition for each; only the closed set of columns ever becomes SQL."""
        for group, value in where.items():
            self.add(f"{UsageGroup(group).value} = {{}}", _text(value))

    def add_days(self, since: str | None, until: str | None) -> None:
        """Whole days, the last one left out."""
        if since is not None:
            self.add("day >= {}", since)
        if until is not None:
            self.add("day < {}", until)

    def place(self, value: object) -> str:
        """A place for one more value, after the clause."""
        self.values += (value,)
        return f"${len(self.values)}"

    def sql(self) -> str:
        """The clause, empty when everything is meant."""
        return f"WHERE {' AND '.join(self._conditions)}" if self._conditions else ""


def _day(record: UsageRecord) -> Day:
    return (
        day_of(record.at),
        *map(_text, (record.organisation, record.project, record.key, record.model, record.pool)),
        *map(_text, (record.urgency, record.tier, record.hardware)),
    )


def _sums(record: UsageRecord) -> Sums:
    return (
        1,
        int(record.is_error),
        record.prompt_tokens,
        record.cached_tokens,
        record.completion_tokens,
        record.reasoning_tokens,
        record.usd_micro,
        record.usd_micro if record.is_hosted_price else 0,
        round(record.replica_s * MICRO),
    )


def _text(value: str) -> str:
    """PostgreSQL's texts have no zero bytes, and both stores hold the same."""
    return value.replace("\x00", "\ufffd") if "\x00" in value else value
