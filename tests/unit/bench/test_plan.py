"""What a plan accepts."""

from typing import Any

import pytest

from heterodyne.bench.plan import BenchPlan
from heterodyne.domain.errors import SettingsInvalid
from heterodyne.domain.operation import Operation


def plan(**fields: Any) -> BenchPlan:
    return BenchPlan(url="http://127.0.0.1:1", model="m", **fields)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"requests": 1}, "a rate or a concurrency"),
        ({"requests": 1, "concurrency": 1, "rate_requests_per_s": 1.0}, "a rate or a concurrency"),
        ({"concurrency": 1}, "a number of requests or a duration"),
        ({"requests": 0, "concurrency": 1}, "at least 1"),
        ({"requests": 1, "rate_requests_per_s": 0.0}, "above zero"),
        ({"requests": 1, "concurrency": 1, "operation": Operation.TOKENIZE}, "tokenize"),
    ],
)
def test_a_plan_that_cannot_run_says_why(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsInvalid, match=message):
        plan(**fields)


def test_all_problems_are_told_together() -> None:
    with pytest.raises(SettingsInvalid, match=r"rate or a concurrency.*timeout"):
        plan(requests=1, timeout_s=0.0)


def test_embeddings_are_never_streamed() -> None:
    assert plan(requests=1, concurrency=1).wants_stream
    assert not plan(requests=1, concurrency=1, operation=Operation.EMBEDDING).wants_stream
