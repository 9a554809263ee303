"""Limits of keys, projects and organisations as a client meets them, and what is counted in the end."""

import asyncio
from collections.abc import Callable
from math import ceil

import pytest

from heterodyne.domain.tenant import Level, Limits
from heterodyne.stores.leases.memory import MemoryLeases
from heterodyne.testing import behaviours
from tests.support.gateways import gateway_over
from tests.support.minutes import minute_left_s, this_minute, today, wait_for_room
from tests.support.raw_client import Answer, ask, connected
from tests.support.requests import chat
from tests.support.tenants import PROJECT_LEVEL, bearer, caller, tenants
from tests.support.turnstile import Turnstile

KEY = bearer("key")
PROMPT_TOKENS, ANSWER_TOKENS = 7, 3  # as the engine counts `chat` and its own answers
USED = PROMPT_TOKENS + ANSWER_TOKENS
A_FEW_S = 3.0


async def test_requests_per_minute() -> None:
    wait_for_room(A_FEW_S)
    callers = tenants(key=caller(limits=Limits(requests_per_minute=3)))
    async with gateway_over(behaviours.answer(), tenants=callers) as rig, connected(rig.port) as client:
        for left in (2, 1, 0):
            answer = await client.ask(chat(KEY))
            assert answer.status == 200
            assert _rate(answer, "requests") == (3, left)
            assert int(answer.headers["x-ratelimit-reset-requests"].rstrip("s")) <= 60
        refused = await client.ask(chat(KEY))
        assert (refused.status, refused.error["code"]) == (429, "rate_limit_exceeded")
        assert refused.error["message"].startswith("project acme/search: 3 requests per minute are used up;")
        assert _rate(refused, "requests") == (3, 0)
        reset = int(refused.headers["x-ratelimit-reset-requests"].rstrip("s"))
        assert abs(int(refused.headers["retry-after"]) - reset) <= 1
        assert abs(reset - ceil(minute_left_s())) <= 1
        assert len(rig.engine.calls) == 3
        assert (await client.ask(chat(KEY, stream=True))).status == 429, "a stream is refused before it begins"


async def test_tokens_are_reserved_and_then_corrected() -> None:
    leases = MemoryLeases()
    callers = tenants(key=caller(limits=Limits(tokens_per_day=1000)))
    async with gateway_over(behaviours.answer(), tenants=callers, leases=leases) as rig:
        for number in range(1, 4):
            answer = await ask(rig.port, chat(KEY, max_tokens=900 if number == 1 else 100))
            assert answer.status == 200
            await _until_used(leases, "tokens_per_day", today(), number * USED)
        too_large = await ask(rig.port, chat(KEY, messages=[{"role": "user", "content": "x" * 40_000}]))
        assert (too_large.status, too_large.error["code"]) == (429, "rate_limit_exceeded")
        assert "1000 tokens per day are allowed" in too_large.error["message"]
        assert "retry-after" not in too_large.headers, "no window has room for it"
        limit, left = _rate(too_large, "tokens")
        assert limit == 1000
        assert 1000 - 4 * USED <= left <= 1000 - 3 * USED, "as last heard"


async def test_tokens_per_minute_end_and_say_how_many_are_left() -> None:
    wait_for_room(A_FEW_S)
    leases = MemoryLeases()
    callers = tenants(key=caller(limits=Limits(tokens_per_minute=25)))
    async with gateway_over(behaviours.answer(), tenants=callers, leases=leases) as rig:
        answers = [await ask(rig.port, chat(KEY, max_tokens=ANSWER_TOKENS)) for _ in range(4)]
        statuses = [answer.status for answer in answers]
        assert statuses[:2] == [200, 200]
        assert statuses[-1] == 429
        assert _rate(answers[-1], "tokens")[0] == 25
        taken = statuses.count(200)
        # A first prompt is thought shorter than it is, so one request may be let in that does not fit.
        assert (taken - 1) * USED < 25
        await _until_used(leases, "tokens_per_minute", this_minute(), taken * USED)


async def test_places_are_free_again_when_requests_end() -> None:
    turnstile = Turnstile()
    callers = tenants(key=caller(limits=Limits(concurrent_requests=2)))
    async with gateway_over(turnstile, tenants=callers) as rig:
        running = [asyncio.create_task(ask(rig.port, chat(KEY))) for _ in range(2)]
        await turnstile.wait_came(2)
        refused = await ask(rig.port, chat(KEY))
        assert (refused.status, refused.error["code"]) == (429, "rate_limit_exceeded")
        assert refused.headers["retry-after"] == "1"
        assert "2 requests may run at once" in refused.error["message"]
        turnstile.let(2)
        assert [(await one).status for one in running] == [200, 200]
        turnstile.let(1)
        assert (await ask(rig.port, chat(KEY))).status == 200


async def test_dollars_per_day() -> None:
    """A dollar a token here: each answer costs ten."""
    leases = MemoryLeases()
    pool = {"price_usd_per_million_prompt_tokens": 1e6, "price_usd_per_million_completion_tokens": 1e6}
    callers = tenants(key=caller(limits=Limits(usd_per_day=25)))
    async with gateway_over(behaviours.answer(), pool=pool, tenants=callers, leases=leases) as rig:
        answers = [await ask(rig.port, chat(KEY, max_tokens=ANSWER_TOKENS)) for _ in range(4)]
        refused = answers[-1]
        assert (refused.status, refused.error["code"]) == (429, "insufficient_quota")
        assert "per day" in refused.error["message"]
        assert "$25.00" in refused.error["message"]
        assert int(refused.headers["retry-after"]) > 0
        taken = [answer.status for answer in answers].count(200)
        assert taken in (2, 3)
        await _until_used(leases, "usd_per_day", today(), taken * USED * 1_000_000)


async def test_a_stream_that_is_cancelled_is_charged_what_was_delivered() -> None:
    leases = MemoryLeases()
    callers = tenants(key=caller(limits=Limits(tokens_per_day=10_000, requests_per_day=10, concurrent_requests=1)))
    async with gateway_over(behaviours.stream(1000, delay_s=0.02), tenants=callers, leases=leases) as rig:
        async with connected(rig.port) as client:
            await client.send(chat(KEY, stream=True, max_tokens=1000))
            _, headers = await client.head()
            assert _rate_of(headers, "tokens")[0] == 10_000
            delivered, chunks = 0, client.chunks()
            while delivered < 5:
                delivered += (await anext(chunks)).count(b" hello")
            client.leave()
        await rig.wait_cancelled()
        await rig.wait_empty()
        used = await _settled(leases, "tokens_per_day", today())
        assert delivered < used < 200, "the prompt and what was sent, not the thousand that were reserved"
        await _until_used(leases, "requests_per_day", today(), 1)
        await _until_used(leases, "concurrent_requests", 0, 0)


@pytest.mark.parametrize("is_stream", [False, True])
async def test_a_request_that_fails_is_charged_nothing(is_stream: bool) -> None:
    leases = MemoryLeases()
    callers = tenants(key=caller(limits=Limits(tokens_per_day=1000, requests_per_day=10, concurrent_requests=1)))
    async with gateway_over(behaviours.refuse(500), tenants=callers, leases=leases) as rig:
        answer = await ask(rig.port, chat(KEY, stream=is_stream))
        assert answer.status >= 500
        for name, window in (("tokens_per_day", today()), ("requests_per_day", today()), ("concurrent_requests", 0)):
            await _until_used(leases, name, window, 0)


async def test_every_level_counts_and_the_tightest_decides() -> None:
    leases = MemoryLeases()
    organisation = Level(name="organisation:acme", limits=Limits(requests_per_day=3))
    project = Level(name=PROJECT_LEVEL, limits=Limits(requests_per_day=100, tokens_per_day=10_000))
    levels = (organisation, project, Level(name="key:key_1", limits=Limits(requests_per_day=2)))
    callers = tenants(one=caller(levels=levels), two=caller("acme/other", levels=(organisation,)))
    async with gateway_over(behaviours.answer(), tenants=callers, leases=leases) as rig:
        one, two = bearer("one"), bearer("two")
        answers = [await ask(rig.port, chat(header)) for header in (one, one, one, two, two)]
        assert [answer.status for answer in answers] == [200, 200, 429, 200, 429]
        assert "key key_1: 2 requests per day" in answers[2].error["message"]
        assert "organisation acme: 3 requests per day" in answers[4].error["message"]
        assert _rate(answers[0], "requests") == (2, 1), "that of the key has least left"
        for counter, used in (("organisation:acme", 3), (PROJECT_LEVEL, 2), ("key:key_1", 2)):
            await _until_used(leases, "requests_per_day", today(), used, level=counter)


async def test_a_limit_of_zero_lets_nobody_in() -> None:
    callers = tenants(key=caller(limits=Limits(requests_per_day=0)))
    async with gateway_over(behaviours.answer(), tenants=callers) as rig:
        answer = await ask(rig.port, chat(KEY))
        assert (answer.status, answer.error["code"]) == (429, "rate_limit_exceeded")
        assert "which is none" in answer.error["message"]


async def test_two_gateways_share_one_limit_exactly() -> None:
    leases = MemoryLeases()
    callers = tenants(key=caller(limits=Limits(requests_per_day=20)))
    async with (
        gateway_over(behaviours.answer(), tenants=callers, leases=leases) as first,
        gateway_over(behaviours.answer(), tenants=callers, leases=leases) as second,
    ):
        asks = [ask(rig.port, chat(KEY)) for _ in range(30) for rig in (first, second)]
        statuses = [answer.status for answer in await asyncio.gather(*asks)]
        assert (statuses.count(200), statuses.count(429)) == (20, 40)
        assert all(rig.engine.calls for rig in (first, second))
        await _until_used(leases, "requests_per_day", today(), 20)


async def test_a_caller_without_limits_sees_no_headers_of_them() -> None:
    async with gateway_over(behaviours.answer(), tenants=tenants(key=caller())) as rig:
        answer = await ask(rig.port, chat(KEY))
        assert answer.status == 200
        assert not any(name.startswith("x-ratelimit") for name in answer.headers)


async def test_a_refusal_is_written_down_with_who_was_refused(tmp_path_factory: pytest.TempPathFactory) -> None:
    records = tmp_path_factory.mktemp("records") / "records.jsonl"
    callers = tenants(key=caller(limits=Limits(requests_per_day=0)))
    async with gateway_over(behaviours.answer(), tenants=callers, records=records) as rig:
        await ask(rig.port, chat(KEY))
        [record] = await rig.wait_records(1)
        assert (record.status, record.reason, record.tenant) == (429, "rate_limit_exceeded", "acme/search")
        assert (record.model, record.key) == ("scripted", "key_acme_search")


def _rate(answer: Answer, word: str) -> tuple[int, int]:
    return _rate_of(answer.headers, word)


def _rate_of(headers: dict[str, str], word: str) -> tuple[int, int]:
    """The limit and what is left of it."""
    return int(headers[f"x-ratelimit-limit-{word}"]), int(headers[f"x-ratelimit-remaining-{word}"])


async def _until_used(leases: MemoryLeases, name: str, window: int, used: int, *, level: str = PROJECT_LEVEL) -> None:
    """Until the counter has this value, which it gets when leases are given back."""
    await _until(lambda: leases.used(f"{level} {name}", window) == used, lambda: leases.used(f"{level} {name}", window))


async def _settled(leases: MemoryLeases, name: str, window: int) -> int:
    """The counter once it has not changed for longer than leases are kept."""
    counter, before = f"{PROJECT_LEVEL} {name}", -1
    while (now := leases.used(counter, window)) != before:
        before = now
        await asyncio.sleep(1.2)
    return now


async def _until(is_so: Callable[[], bool], told: Callable[[], object]) -> None:
    try:
        async with asyncio.timeout(30):
            while not is_so():
                await asyncio.sleep(0.01)
    except TimeoutError:
        raise AssertionError(f"it is {told()}") from None
