"""A pool that is full: requests wait for their turn, and whoever may not wait is told why."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from msgspec import structs

from heterodyne.domain.tenant import Limits
from heterodyne.domain.urgency import Tier
from heterodyne.supervisor.configured_replicas import remote_replicas
from heterodyne.testing import behaviours
from tests.support.gateways import Rig, gateway_over
from tests.support.raw_client import Answer, ask, connected
from tests.support.requests import MODEL, chat, get
from tests.support.tenants import bearer, caller, tenants
from tests.support.turnstile import Turnstile

ONE = {"in_flight_max": 1}
BUSY = "busy"
BATCH = "x-heterodyne-class: batch"


@asynccontextmanager
async def full(turnstile: Turnstile, *headers: str, **more: Any) -> AsyncIterator[tuple[Rig, "Asked"]]:
    """A gateway whose only place is taken by a request that is busy until the turnstile lets it go."""
    async with gateway_over(turnstile, pool=ONE, **more) as rig:
        asked = Asked(rig)
        asked.say(BUSY, *headers)
        await turnstile.wait_came(1)
        yield rig, asked
        turnstile.let(100)  # whoever is left
        await asked.answers()
        await rig.wait_empty()


class Asked:
    """Requests on connections of their own, each known by what it says."""

    def __init__(self, rig: Rig) -> None:
        self._rig = rig
        self._tasks: list[asyncio.Task[Answer]] = []

    def say(self, content: str, *headers: str, **fields: object) -> "asyncio.Task[Answer]":
        request = chat(*headers, messages=[{"role": "user", "content": content}], **fields)
        task = asyncio.create_task(ask(self._rig.port, request))
        self._tasks.append(task)
        return task

    async def wait_waiting(self, count: int) -> None:
        """Those that are seen to wait before the next is sent are sure to have come in this order."""
        async with asyncio.timeout(30):
            while await queue_depth(self._rig) != count:
                await asyncio.sleep(0.002)

    async def answers(self) -> list[Answer]:
        return await asyncio.gather(*self._tasks)


async def queue_depth(rig: Rig, urgency: str = "") -> int:
    """As the metrics have it."""
    page = (await ask(rig.port, get("/metrics"))).body.decode()
    lines = [line for line in page.splitlines() if line.startswith("heterodyne_admission_queue_depth{")]
    return sum(int(float(line.rpartition(" ")[2])) for line in lines if f'model="{MODEL}"' in line and urgency in line)


async def test_requests_wait_for_their_turn_instead_of_failing(tmp_path: Path) -> None:
    turnstile = Turnstile()
    async with full(turnstile, records=tmp_path / "records.jsonl") as (rig, asked):
        for number in range(3):
            asked.say(str(number), stream=number == 1)
            await asked.wait_waiting(number + 1)
        assert turnstile.came == [BUSY]
        turnstile.let(4)
        answers = await asked.answers()
        assert [answer.status for answer in answers] == [200] * 4
        assert turnstile.came == [BUSY, "0", "1", "2"], "in the order they came, within one tenant"
        assert turnstile.running_max == 1
        records = await rig.wait_records(4)
        assert [record.queue_ms is not None for record in records] == [False, True, True, True]
        assert await queue_depth(rig) == 0


async def test_urgent_classes_go_first_whoever_came_first() -> None:
    turnstile = Turnstile()
    async with gateway_over(turnstile, pool={"in_flight_max": 4}) as rig:
        asked = Asked(rig)
        for number in range(3):
            asked.say(BUSY, BATCH)
            await turnstile.wait_came(number + 1)
        for count, urgency in enumerate(("background", "batch"), 1):
            asked.say(urgency, f"x-heterodyne-class: {urgency}")
            await asked.wait_waiting(count)
        asked.say("interactive")
        assert (await turnstile.wait_came(4))[3] == "interactive", "the last place is not for others"
        asked.say("interactive too")
        await asked.wait_waiting(3)
        assert len(turnstile.came) == 4
        turnstile.let(1)
        assert (await turnstile.wait_came(5))[4] == "interactive too"
        assert [await queue_depth(rig, one) for one in ("interactive", "batch", "background")] == [0, 1, 1]


async def test_batch_work_goes_before_background_work() -> None:
    turnstile = Turnstile()
    async with gateway_over(turnstile, pool={"in_flight_max": 2}) as rig:
        asked = Asked(rig)
        asked.say(BUSY, BATCH)
        await turnstile.wait_came(1)
        for count, urgency in enumerate(("background", "batch"), 1):
            asked.say(urgency, f"x-heterodyne-class: {urgency}")
            await asked.wait_waiting(count)
        turnstile.let(3)
        assert [answer.status for answer in await asked.answers()] == [200] * 3
        assert turnstile.came == [BUSY, "batch", "background"]


async def test_two_tenants_take_turns_whatever_one_of_them_sends() -> None:
    turnstile = Turnstile()
    callers = tenants(loud=caller("acme/loud"), quiet=caller("acme/quiet"))
    async with full(turnstile, bearer("loud"), tenants=callers) as (_rig, asked):
        for _ in range(20):
            asked.say("loud", bearer("loud"))
        await asked.wait_waiting(20)
        for _ in range(4):
            asked.say("quiet", bearer("quiet"))
        await asked.wait_waiting(24)
        turnstile.let(25)
        assert {answer.status for answer in await asked.answers()} == {200}
        before_the_last = turnstile.came[1 : _last(turnstile.came, "quiet")]
        # Turns are by what answers took, which is not known beforehand.
        assert before_the_last.count("loud") <= 5, f"one turn for each of the other's, or nearly: {turnstile.came}"


async def test_a_heavier_tenant_gets_more_turns() -> None:
    turnstile = Turnstile()
    callers = tenants(heavy=caller("acme/heavy", weight=3.0), light=caller("acme/light"))
    async with full(turnstile, bearer("light"), tenants=callers) as (_, asked):
        for _ in range(12):
            asked.say("light", bearer("light"))
            asked.say("heavy", bearer("heavy"))
        await asked.wait_waiting(24)
        turnstile.let(25)
        await asked.answers()
        assert turnstile.came[1:13].count("heavy") > turnstile.came[1:13].count("light"), turnstile.came


async def test_a_full_queue_says_so_and_when_to_come_back() -> None:
    turnstile = Turnstile()
    callers = tenants(gold=caller(tier=Tier.GOLD))
    admission = {"queue_max": 2}
    async with full(turnstile, bearer("gold"), tenants=callers, admission=admission) as (rig, asked):
        for number in range(2):
            asked.say(str(number), bearer("gold"))
        await asked.wait_waiting(2)
        answer = await ask(rig.port, chat(bearer("gold")))
        assert (answer.status, answer.error["code"]) == (503, "queue_full")
        assert 1 <= int(answer.headers["retry-after"]) <= 60
        async with connected(rig.port) as client:
            await client.send(chat(bearer("gold"), BATCH))
            await asked.wait_waiting(3)  # another class has its own queue
            assert [await queue_depth(rig, one) for one in ("interactive", "batch")] == [2, 1]


async def test_one_tenant_cannot_fill_the_queue() -> None:
    turnstile = Turnstile()
    callers = tenants(loud=caller("acme/loud", tier=Tier.GOLD), quiet=caller("acme/quiet", tier=Tier.GOLD))
    admission = {"queue_max": 3, "tenant_queue_max": 2}
    async with full(turnstile, bearer("loud"), tenants=callers, admission=admission) as (rig, asked):
        for number in range(2):
            asked.say(str(number), bearer("loud"))
        await asked.wait_waiting(2)
        answer = await ask(rig.port, chat(bearer("loud")))
        assert (answer.status, answer.error["code"]) == (503, "queue_full")
        assert "of this tenant" in answer.error["message"]
        asked.say("quiet", bearer("quiet"))
        await asked.wait_waiting(3)


async def test_a_tier_gives_way_before_the_queue_is_full() -> None:
    turnstile = Turnstile()
    callers = tenants(gold=caller("acme/gold", tier=Tier.GOLD), bronze=caller("acme/bronze", tier=Tier.BRONZE))
    admission = {"queue_max": 4}
    async with full(turnstile, bearer("gold"), tenants=callers, admission=admission) as (rig, asked):
        for number in range(2):
            asked.say(str(number), bearer("gold"))
        await asked.wait_waiting(2)
        answer = await ask(rig.port, chat(bearer("bronze")))
        assert (answer.status, answer.error["code"]) == (503, "shed")
        assert int(answer.headers["retry-after"]) >= 1
        asked.say("gold", bearer("gold"))
        await asked.wait_waiting(3)


async def test_a_client_that_leaves_while_it_waits_frees_its_place_and_its_limits(tmp_path: Path) -> None:
    turnstile = Turnstile()
    callers = tenants(key=caller(limits=Limits(concurrent_requests=2)))
    records = tmp_path / "records.jsonl"
    async with full(turnstile, bearer("key"), tenants=callers, records=records) as (rig, asked):
        async with connected(rig.port) as client:
            await client.send(chat(bearer("key")))
            await asked.wait_waiting(1)
            third = await ask(rig.port, chat(bearer("key")))
            assert (third.status, third.error["code"]) == (429, "rate_limit_exceeded")
            client.leave()
        await asked.wait_waiting(0)
        asked.say("instead", bearer("key"))
        await asked.wait_waiting(1)
        turnstile.let(2)
        assert [answer.status for answer in await asked.answers()] == [200, 200]
        assert turnstile.came == [BUSY, "instead"], "nobody asked an engine for it"
        written = await rig.wait_records(4)
        [gone] = [record for record in written if record.reason == "client_gone"]
        assert (gone.model, gone.tenant, gone.prompt_tokens) == (MODEL, "acme/search", 0)


async def test_a_deadline_that_passes_in_the_queue_is_answered() -> None:
    turnstile = Turnstile()
    async with full(turnstile) as (rig, asked):
        late = asked.say("late", "x-heterodyne-deadline-ms: 150")
        answer = await late
        assert (answer.status, answer.error["code"]) == (504, "deadline_exceeded")
        assert "queue" in answer.error["message"]
        assert await queue_depth(rig) == 0
        turnstile.let(1)
        await asked.answers()
        assert turnstile.came == [BUSY]


async def test_a_drain_lets_those_that_wait_have_their_turn_while_there_is_time() -> None:
    turnstile = Turnstile()
    async with full(turnstile, gateway={"drain_timeout_s": 5.0}) as (rig, asked):
        waits = asked.say("waits")
        await asked.wait_waiting(1)
        drained = asyncio.create_task(rig.server.drain())
        turnstile.let(2)
        assert (await waits).status == 200
        await drained


async def test_a_drain_answers_those_whose_turn_does_not_come() -> None:
    turnstile = Turnstile()
    async with full(turnstile, gateway={"drain_timeout_s": 0.1}) as (rig, asked):
        waits = asked.say("waits")
        await asked.wait_waiting(1)
        await rig.server.drain()
        answer = await waits
        assert (answer.status, answer.error["code"]) == (503, "draining")
        assert turnstile.came == [BUSY]


async def test_a_smaller_model_answers_for_a_tier_that_would_be_refused(tmp_path: Path) -> None:
    turnstile = Turnstile()
    callers = tenants(gold=caller("acme/gold", tier=Tier.GOLD), bronze=caller("acme/bronze", tier=Tier.BRONZE))
    async with full(
        turnstile,
        bearer("gold"),
        tenants=callers,
        admission={"queue_max": 1},
        model={"degrade": {"bronze": "small"}},
        beside={"small": behaviours.answer("small talk")},
        records=tmp_path / "records.jsonl",
    ) as (rig, asked):
        asked.say("waits", bearer("gold"))
        await asked.wait_waiting(1)
        answer = await ask(rig.port, chat(bearer("bronze")))
        assert answer.status == 200
        assert answer.headers["x-heterodyne-model"] == "small"
        assert answer.json["choices"][0]["message"]["content"] == "small talk"
        refused = await ask(rig.port, chat(bearer("gold")))
        assert (refused.status, refused.error["code"]) == (503, "queue_full"), "gold asked for this model"
        turnstile.let(2)
        await asked.answers()
        records = await rig.wait_records(4)
        assert [(one.model, one.asked_model) for one in records if one.model == "small"] == [("small", MODEL)]


async def test_batch_work_waits_for_spare_capacity() -> None:
    """It leaves a place free for others, and is not refused for that."""
    turnstile = Turnstile()
    async with gateway_over(turnstile, pool={"in_flight_max": 4}) as rig:
        asked = Asked(rig)
        for number in range(3):
            asked.say(str(number), BATCH)
            await turnstile.wait_came(number + 1)
        asked.say("3", BATCH)
        await asked.wait_waiting(1)
        turnstile.let(4)
        assert {answer.status for answer in await asked.answers()} == {200}
        assert (turnstile.came, turnstile.running_max) == (["0", "1", "2", "3"], 3)


async def test_without_a_queue_batch_work_beyond_spare_capacity_is_refused() -> None:
    turnstile = Turnstile()
    async with gateway_over(turnstile, pool={"in_flight_max": 2}, admission={"queue_max": 0}) as rig:
        asked = Asked(rig)
        asked.say(BUSY, BATCH)
        await turnstile.wait_came(1)
        answer = await ask(rig.port, chat(BATCH))
        assert (answer.status, answer.error["code"]) == (503, "no_spare_capacity")
        turnstile.let(1)
        await asked.answers()


async def test_without_a_queue_a_full_pool_is_refused_at_once() -> None:
    turnstile = Turnstile()
    async with full(turnstile, admission={"queue_max": 0}) as (rig, _):
        answer = await ask(rig.port, chat())
        assert (answer.status, answer.error["code"]) == (503, "engines_full")
        assert "retry-after" in answer.headers
        assert turnstile.came == [BUSY]


async def test_a_replica_is_given_no_more_than_it_can_hold_however_fast_requests_come() -> None:
    """What an engine holds at once is not said here, so it is thought to be 256."""
    turnstile = Turnstile()
    bounds = {"queue_max": 1000, "tenant_queue_max": 1000}
    async with gateway_over(turnstile, admission=bounds) as rig:
        asked = Asked(rig)
        for number in range(320):
            asked.say(str(number))
        async with asyncio.timeout(20):
            while await queue_depth(rig) + turnstile.running < 320:
                await asyncio.sleep(0.01)
        assert turnstile.running_max <= 256 + 16, "but for those of the same instant"
        turnstile.let(320)
        assert {answer.status for answer in await asked.answers()} == {200}


async def test_waiting_is_measured() -> None:
    turnstile = Turnstile()
    async with full(turnstile) as (rig, asked):
        before = await _waits_measured(rig)
        asked.say("waits")
        await asked.wait_waiting(1)
        turnstile.let(2)
        await asked.answers()
        assert await _waits_measured(rig) == before + 1


async def test_pipelined_requests_wait_one_after_the_other() -> None:
    turnstile = Turnstile()
    async with full(turnstile) as (rig, asked), connected(rig.port) as client:
        await client.send(chat(), chat(stream=True), get("/health/live"))
        await asked.wait_waiting(1)
        turnstile.let(3)
        assert [(await client.answer()).status for _ in range(3)] == [200, 200, 200]


def _last(came: list[str], one: str) -> int:
    return len(came) - 1 - came[::-1].index(one)


async def _waits_measured(rig: Rig) -> int:
    page = (await ask(rig.port, get("/metrics"))).body.decode()
    lines = [line for line in page.splitlines() if line.startswith("heterodyne_admission_queue_seconds_count{")]
    return sum(int(float(line.rpartition(" ")[2])) for line in lines if f'model="{MODEL}"' in line)


async def test_batch_work_has_a_replica_that_holds_one_request_while_nobody_else_wants_it() -> None:
    turnstile = Turnstile()
    async with gateway_over(turnstile, pool=ONE) as rig:
        asked = Asked(rig)
        asked.say("first", BATCH)
        await turnstile.wait_came(1)
        asked.say("second", BATCH)
        await asked.wait_waiting(1)
        turnstile.let(2)
        assert [answer.status for answer in await asked.answers()] == [200, 200]


async def test_who_waits_for_a_model_that_leaves_the_fleet_is_told_so() -> None:
    turnstile = Turnstile()
    async with full(turnstile, beside={"other": behaviours.answer()}) as (rig, asked):
        waits = asked.say("waits")
        await asked.wait_waiting(1)
        settings = rig.gateway.settings
        left = structs.replace(settings, pools={"other": settings.pools["other"]})
        rig.gateway.apply(left, remote_replicas(left), {}, version=2)
        answer = await waits
        assert (answer.status, answer.error["code"]) == (404, "model_not_found")
