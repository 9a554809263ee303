"""Compares a history with what the records themselves add up to."""

from collections.abc import Iterable

import pytest
from msgspec.structs import asdict

from heterodyne.domain.history import Distribution, History, HistoryGroup, HistoryQuery, Sums
from heterodyne.domain.usage import UsageRecord
from tests.support.plain_sums import sums_of


def check_history(history: History, query: HistoryQuery, records: Iterable[UsageRecord]) -> None:
    """Every step of every series, and none besides."""
    meant: dict[tuple[tuple[str, ...], int], list[UsageRecord]] = {}
    for record in records:
        if history.since_at <= record.at < history.until_at and all(
            _label(record, group) == value for group, value in query.where.items()
        ):
            group = tuple(_label(record, group) for group in query.by)
            meant.setdefault((group, int(record.at // query.step_s) * query.step_s), []).append(record)
    found = {
        (tuple(series.group[group] for group in query.by), step.at): step.sums
        for series in history.series
        for step in series.steps
    }
    assert found.keys() == meant.keys()
    for point, sums in found.items():
        check_sums(sums, sums_of(meant[point]))


def check_sums(found: Sums, meant: Sums) -> None:
    """The same to the last request; sums of times, which are added in another order, to a hair."""
    for name, value in asdict(meant).items():
        one = getattr(found, name)
        if isinstance(value, Distribution):
            assert one.counts == value.counts, name
            assert one.sum_ms == pytest.approx(value.sum_ms), name
        else:
            assert one == value, name


def _label(record: UsageRecord, group: HistoryGroup) -> str:
    label = record.urgency if group is HistoryGroup.CLASS else getattr(record, group.value)
    assert isinstance(label, str)
    return label
