"""Usage as rows: the columns of a record, what records add to their days, and the filters of queries."""

from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache
from typing import NamedTuple

from msgspec.structs import astuple

from heterodyne.domain.usage import UsageGroup, UsageRecord
from heterodyne.stores.sql.script import Row

COLUMNS = (
    *("id", "at", "day", "organisation", "project", "key", "tier", "class", "operation", "model", "version", "pool"),
    *("replica", "hardware", "status", "reason", "prompt_tokens", "cached_tokens", "completion_tokens"),
    *("reasoning_tokens", "is_estimated", "queue_ms", "ttft_ms", "itl_ms", "total_ms", "predicted_ttft_ms"),
    *("predicted_itl_ms", "usd_micro", "is_hosted_price", "retries", "is_hedged", "continuations", "replica_us"),
    "promise",
)
DAY_COLUMNS = ("day", "organisation", "project", "key", "model", "pool", "class", "tier", "hardware")
SUM_COLUMNS = (
    *("requests", "errors", "prompt_tokens", "cached_tokens", "completion_tokens", "reasoning_tokens"),
    *("usd_micro", "hosted_usd_micro", "replica_us"),
)
MICRO = 1_000_000
DAY_S = 86400.0

# Of a record as a tuple of its fields: the texts that many requests have in common.
_TEXTS = slice(2, 13)


class Ledger(NamedTuple):
    """What records add to the two tables; truths are 0 and 1, which SQLite takes much faster."""

    rows: list[Row]  # in the order of COLUMNS
    days: list[Row]  # in that of DAY_COLUMNS and SUM_COLUMNS, sorted alike for all who write


def unique(records: Iterable[UsageRecord]) -> dict[str, UsageRecord]:
    """By id and in its order, in which several gateways can write without waiting for each other in a circle."""
    by_id: dict[str, UsageRecord] = {}
    for record in records:
        by_id.setdefault(record.id, record)
    return dict(sorted(by_id.items()))


def ledger(records: Iterable[UsageRecord]) -> Ledger:
    """One walk over the records, which are many; what is theirs in common is looked at once."""
    rows: list[Row] = []
    days: dict[tuple[str, ...], list[int]] = {}
    groups: dict[tuple[int, tuple[str, ...]], tuple[tuple[str, ...], list[int]]] = {}
    for record in records:
        values = astuple(record)
        at: float = values[1]
        group = int(at // DAY_S), values[_TEXTS]
        known = groups.get(group)
        if known is None:
            known = groups[group] = _group(group, days)
        texts, sums = known
        # fmt: off
        (
            status, reason, prompt_tokens, cached_tokens, completion_tokens, reasoning_tokens, is_estimated,
            queue_ms, ttft_ms, itl_ms, total_ms, predicted_ttft_ms, predicted_itl_ms,
            usd_micro, is_hosted_price, retries, is_hedged, continuations, replica_s, promise,
        ) = values[_TEXTS.stop :]
        replica_us = round(replica_s * MICRO)
        rows.append((
            values[0], at, *texts,
            status, reason and text(reason),
            prompt_tokens, cached_tokens, completion_tokens, reasoning_tokens, +is_estimated,
            queue_ms, ttft_ms, itl_ms, total_ms, predicted_ttft_ms, predicted_itl_ms,
            usd_micro, +is_hosted_price, retries, +is_hedged, continuations, replica_us,
            promise and text(promise),
        ))
        # fmt: on
        sums[0] += 1
        if reason:
            sums[1] += 1
        sums[2] += prompt_tokens
        sums[3] += cached_tokens
        sums[4] += completion_tokens
        sums[5] += reasoning_tokens
        sums[6] += usd_micro
        if is_hosted_price:
            sums[7] += usd_micro
        sums[8] += replica_us
    return Ledger(rows, [(*day, *sums) for day, sums in sorted(days.items())])


def record_of(row: Row) -> UsageRecord:
    """The record that became the row; times of replicas to the microsecond."""
    by_name = dict(zip(COLUMNS, row, strict=True))
    del by_name["day"]
    by_name["urgency"] = by_name.pop("class")
    by_name["replica_s"] = by_name.pop("replica_us") / MICRO
    for flag in ("is_estimated", "is_hosted_price", "is_hedged"):
        by_name[flag] = bool(by_name[flag])
    return UsageRecord(**by_name)


def text(value: str) -> str:
    """PostgreSQL's texts have no zero bytes, and both stores hold the same."""
    return value.replace("\x00", "\ufffd") if "\x00" in value else value


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
            self.add(f"{UsageGroup(group).value} = {{}}", text(value))

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


def _group(
    group: tuple[int, tuple[str, ...]], days: dict[tuple[str, ...], list[int]]
) -> tuple[tuple[str, ...], list[int]]:
    """The day and the texts as the stores have them, and the sums of their row of `days`."""
    number, labels = group
    texts = _day_of(number), *map(text, labels)
    day, organisation, project, key, tier, urgency, _, model, _, pool, _, hardware = texts
    sums = days.setdefault(
        (day, organisation, project, key, model, pool, urgency, tier, hardware), [0] * len(SUM_COLUMNS)
    )
    return texts, sums


@lru_cache(maxsize=64)
def _day_of(number: int) -> str:
    """A UTC day by its number since the epoch."""
    return datetime.fromtimestamp(number * DAY_S, UTC).strftime("%Y-%m-%d")
