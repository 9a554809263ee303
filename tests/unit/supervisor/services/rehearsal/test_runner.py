"""The same requests under other policies, in a child of its own."""

import asyncio

import pytest
from msgspec import structs

from heterodyne.assembly.console import REHEARSAL_MODULE
from heterodyne.config.settings import Settings
from heterodyne.console.errors import CannotPlan, ServiceBusy
from heterodyne.console.fleet.pages import FleetPage
from heterodyne.console.rehearsal.pages import RehearsalRequest
from heterodyne.domain.errors import DeadlineExceeded, InvalidField, UnknownName
from heterodyne.supervisor.services.rehearsal.runner import RehearsalRunner
from tests.support.inline_books import InlineBooks
from tests.support.service_fleets import FAST, MODEL, NOBODY_KNOWS, page, requests, settings

NOW = 1_793_534_400.0
CHEAP = structs.replace(FAST, hardware="l40s", precision="fp8", price_usd_per_hour=0.5, urls=("http://d:1",))
FLEET = {"fast": FAST, "cheap": CHEAP, "other": NOBODY_KNOWS}


async def books_with(count: int = 60, **fields: object) -> InlineBooks:
    books = InlineBooks()
    await books.add(list(requests(NOW - count, NOW, **fields)))
    return books


def make_runner(
    books: InlineBooks, said: Settings | None = None, fleet: FleetPage | None = None, **more: float
) -> RehearsalRunner:
    said = said or settings("cost", **FLEET)
    fleet = fleet or page(fast=2, cheap=1, other=1)
    return RehearsalRunner(books, lambda: said, lambda: fleet, child=REHEARSAL_MODULE, clock=lambda: NOW, **more)


async def test_every_policy_gets_the_same_requests_and_the_models_own_is_marked() -> None:
    books = await books_with()
    answer = await make_runner(books).rehearse(RehearsalRequest(model=MODEL, policies=("slo", "cost", "round-robin")))
    assert (answer.requests, answer.since_at, answer.until_at) == (60, NOW - 60, NOW - 1)
    assert [(row.policy, row.is_used) for row in answer.rows] == [
        ("slo", False),
        ("cost", True),
        ("round-robin", False),
    ]
    by_policy = {row.policy: {pool.pool: pool.requests for pool in row.pools} for row in answer.rows}
    assert all(sum(pools.values()) == 60 for pools in by_policy.values())
    assert by_policy["cost"]["cheap"] > by_policy["slo"]["cheap"], "which is what the policy is for"
    assert by_policy["round-robin"] == {"fast": 40, "cheap": 20}
    assert all(0 < row.ttft_p50_ms <= row.ttft_p99_ms and row.itl_p50_ms > 0 for row in answer.rows)
    hours = (answer.until_at - answer.since_at) / 3600
    assert all(row.usd is not None and row.usd >= 6.5 * hours for row in answer.rows), "all replicas, all the time"
    books.close()


async def test_what_is_not_known_is_named() -> None:
    books = await books_with()
    await books.add(list(requests(NOW - 5, NOW, pool="", replica="", reason="shed", prompt_tokens=0)))
    said = settings(**FLEET, strange=structs.replace(FAST, hardware="abacus"))
    answer = await make_runner(books, said, page(fast=2, other=1, strange=1)).rehearse(RehearsalRequest(model=MODEL))
    assert answer.left_out[:2] == ("cheap: it has no replica", "other: it names no hardware")
    assert 'pools.strange: no accelerator "abacus"' in answer.left_out[2]
    notes = " ".join(answer.notes)
    assert "nothing is found in a cache" in notes
    assert "5 requests that were refused" in notes
    assert "fast: " in notes
    books.close()


async def test_only_the_latest_of_the_span_are_taken() -> None:
    books = await books_with(100)
    ask = RehearsalRequest(model=MODEL, policies=("slo",), requests_max=10, until_at=NOW - 50)
    answer = await make_runner(books).rehearse(ask)
    assert (answer.requests, answer.since_at, answer.until_at) == (10, NOW - 60, NOW - 51)
    books.close()


async def test_without_a_pool_that_is_known_nothing_is_rehearsed() -> None:
    books = await books_with()
    with pytest.raises(CannotPlan, match="it names no hardware"):
        await make_runner(books, settings(other=NOBODY_KNOWS), page(other=1)).rehearse(RehearsalRequest(model=MODEL))
    strange = settings(strange=structs.replace(FAST, hardware="abacus"))
    with pytest.raises(CannotPlan, match="abacus"):
        await make_runner(books, strange, page(strange=1)).rehearse(RehearsalRequest(model=MODEL))
    books.close()


async def test_a_question_that_cannot_be_is_refused_before_anything_runs() -> None:
    books = await books_with()
    runner = make_runner(books)
    with pytest.raises(UnknownName, match="nobody"):
        await runner.rehearse(RehearsalRequest(model="nobody"))
    with pytest.raises(UnknownName, match="guess"):
        await runner.rehearse(RehearsalRequest(model=MODEL, policies=("guess",)))
    with pytest.raises(CannotPlan, match="take another"):
        await runner.rehearse(RehearsalRequest(model=MODEL, since_at=1.0, until_at=2.0))
    with pytest.raises(InvalidField, match="since_at"):
        await runner.rehearse(RehearsalRequest(model=MODEL, since_at=2.0, until_at=1.0))
    books.close()


async def test_there_is_one_at_a_time_and_whoever_leaves_makes_room() -> None:
    books = await books_with()
    runner = make_runner(books)
    first = asyncio.create_task(runner.rehearse(RehearsalRequest(model=MODEL)))
    await asyncio.sleep(0)
    with pytest.raises(ServiceBusy, match="No more than 1 rehearsals"):
        await runner.rehearse(RehearsalRequest(model=MODEL))
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert (await runner.rehearse(RehearsalRequest(model=MODEL, policies=("slo",)))).requests == 60
    books.close()


async def test_one_that_takes_too_long_is_given_up() -> None:
    books = await books_with()
    with pytest.raises(DeadlineExceeded):
        await make_runner(books, deadline_s=0.01).rehearse(RehearsalRequest(model=MODEL))
    books.close()
