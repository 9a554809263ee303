"""The same requests under other policies, in a child of its own."""

import asyncio

import pytest
from msgspec import structs

from heterodyne.assembly.desks.rehearsal import RehearsalOffice
from heterodyne.config.settings import Settings
from heterodyne.console.desk_errors import CannotPlan, DeskBusy
from heterodyne.console.fleet_page import FleetPage
from heterodyne.console.rehearsal_pages import RehearsalAsk
from heterodyne.domain.errors import DeadlineExceeded, InvalidField, UnknownName
from tests.support.desk_fleets import FAST, MODEL, NOBODY_KNOWS, page, requests, settings
from tests.support.inline_books import InlineBooks

NOW = 1_793_534_400.0
CHEAP = structs.replace(FAST, hardware="l40s", precision="fp8", price_usd_per_hour=0.5, urls=("http://d:1",))
FLEET = {"fast": FAST, "cheap": CHEAP, "other": NOBODY_KNOWS}


async def books_with(count: int = 60, **fields: object) -> InlineBooks:
    books = InlineBooks()
    await books.add(list(requests(NOW - count, NOW, **fields)))
    return books


def desk(
    books: InlineBooks, said: Settings | None = None, fleet: FleetPage | None = None, **more: float
) -> RehearsalOffice:
    said = said or settings("cost", **FLEET)
    fleet = fleet or page(fast=2, cheap=1, other=1)
    return RehearsalOffice(books, lambda: said, lambda: fleet, clock=lambda: NOW, **more)


async def test_every_policy_gets_the_same_requests_and_the_models_own_is_marked() -> None:
    books = await books_with()
    answer = await desk(books).rehearse(RehearsalAsk(model=MODEL, policies=("slo", "cost", "round-robin")))
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
    answer = await desk(books, said, page(fast=2, other=1, strange=1)).rehearse(RehearsalAsk(model=MODEL))
    assert answer.left_out[:2] == ("cheap: it has no replica", "other: it names no hardware")
    assert 'pools.strange: no accelerator "abacus"' in answer.left_out[2]
    notes = " ".join(answer.notes)
    assert "nothing is found in a cache" in notes
    assert "5 requests that were refused" in notes
    assert "fast: " in notes
    books.close()


async def test_only_the_latest_of_the_span_are_taken() -> None:
    books = await books_with(100)
    ask = RehearsalAsk(model=MODEL, policies=("slo",), requests_max=10, until_at=NOW - 50)
    answer = await desk(books).rehearse(ask)
    assert (answer.requests, answer.since_at, answer.until_at) == (10, NOW - 60, NOW - 51)
    books.close()


async def test_without_a_pool_that_is_known_nothing_is_rehearsed() -> None:
    books = await books_with()
    with pytest.raises(CannotPlan, match="it names no hardware"):
        await desk(books, settings(other=NOBODY_KNOWS), page(other=1)).rehearse(RehearsalAsk(model=MODEL))
    strange = settings(strange=structs.replace(FAST, hardware="abacus"))
    with pytest.raises(CannotPlan, match="abacus"):
        await desk(books, strange, page(strange=1)).rehearse(RehearsalAsk(model=MODEL))
    books.close()


async def test_a_question_that_cannot_be_is_refused_before_anything_runs() -> None:
    books = await books_with()
    office = desk(books)
    with pytest.raises(UnknownName, match="nobody"):
        await office.rehearse(RehearsalAsk(model="nobody"))
    with pytest.raises(UnknownName, match="guess"):
        await office.rehearse(RehearsalAsk(model=MODEL, policies=("guess",)))
    with pytest.raises(CannotPlan, match="take another"):
        await office.rehearse(RehearsalAsk(model=MODEL, since_at=1.0, until_at=2.0))
    with pytest.raises(InvalidField, match="since_at"):
        await office.rehearse(RehearsalAsk(model=MODEL, since_at=2.0, until_at=1.0))
    books.close()


async def test_there_is_one_at_a_time_and_whoever_leaves_makes_room() -> None:
    books = await books_with()
    office = desk(books)
    first = asyncio.create_task(office.rehearse(RehearsalAsk(model=MODEL)))
    await asyncio.sleep(0)
    with pytest.raises(DeskBusy, match="No more than 1 rehearsals"):
        await office.rehearse(RehearsalAsk(model=MODEL))
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert (await office.rehearse(RehearsalAsk(model=MODEL, policies=("slo",)))).requests == 60
    books.close()


async def test_one_that_takes_too_long_is_given_up() -> None:
    books = await books_with()
    with pytest.raises(DeadlineExceeded):
        await desk(books, deadline_s=0.01).rehearse(RehearsalAsk(model=MODEL))
    books.close()
