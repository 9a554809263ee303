"""One replica answers for all that ask the same at once, and nobody is worse off for having waited."""

import asyncio

from heterodyne.caching.settings import CacheSettings
from heterodyne.testing.behaviours import chat_answer
from heterodyne.testing.scripted_engine import EngineCall
from tests.support.gateways import Rig, gateway_over
from tests.support.raw_client import Answer, ask, connected
from tests.support.requests import chat

KEPT = {"kept": CacheSettings()}
ASKERS = 20


class Turnstile:
    """An engine that answers when it is let to."""

    def __init__(self, status: int = 200) -> None:
        self.opened = asyncio.Event()
        self.status = status

    async def __call__(self, call: EngineCall) -> None:
        await self.opened.wait()
        call.whole(self.status, chat_answer() if self.status == 200 else {"error": {"message": "no"}})


def same(*headers: str, **fields: object) -> bytes:
    return chat(*headers, temperature=0, **fields)


def followers(rig: Rig) -> int:
    cache = rig.gateway._answer_cache
    return sum(map(len, cache._flights._followers.values()))


async def test_one_replica_is_asked_once_for_all() -> None:
    engine = Turnstile()
    async with gateway_over(engine, caches=KEPT) as rig:
        asked = [asyncio.create_task(ask(rig.port, same())) for _ in range(ASKERS)]
        await rig.wait(lambda: followers(rig) == ASKERS - 1)
        engine.opened.set()
        answers: list[Answer] = await asyncio.gather(*asked)
        assert [answer.status for answer in answers] == [200] * ASKERS
        assert sorted(answer.headers["x-heterodyne-cache"] for answer in answers) == ["hit"] * (ASKERS - 1) + ["miss"]
        assert len({answer.json["id"] for answer in answers}) == ASKERS
        assert len(rig.engine.calls) == 1


async def test_those_that_follow_a_failure_ask_for_themselves() -> None:
    engine = Turnstile(status=400)
    async with gateway_over(engine, caches=KEPT) as rig:
        asked = [asyncio.create_task(ask(rig.port, same())) for _ in range(3)]
        await rig.wait(lambda: followers(rig) == 2)
        engine.opened.set()
        assert [answer.status for answer in await asyncio.gather(*asked)] == [400] * 3
        assert len(rig.engine.calls) == 3


async def test_those_that_follow_one_that_leaves_are_answered() -> None:
    engine = Turnstile()
    async with gateway_over(engine, caches=KEPT) as rig:
        async with connected(rig.port) as leader:
            await leader.send(same())
            await rig.wait(lambda: len(rig.engine.calls) == 1)
            asked = [asyncio.create_task(ask(rig.port, same())) for _ in range(3)]
            await rig.wait(lambda: followers(rig) == 3)
        await rig.wait(lambda: len(rig.engine.calls) > 1)
        engine.opened.set()
        assert [answer.status for answer in await asyncio.gather(*asked)] == [200] * 3


async def test_one_that_follows_may_leave_and_has_its_own_deadline(tmp_path) -> None:
    engine = Turnstile()
    async with gateway_over(engine, caches=KEPT, records=tmp_path / "records") as rig:
        leader = asyncio.create_task(ask(rig.port, same()))
        await rig.wait(lambda: len(rig.engine.calls) == 1)
        async with connected(rig.port) as gone:
            await gone.send(same())
            await rig.wait(lambda: followers(rig) == 1)
        await rig.wait(lambda: followers(rig) == 0)
        late = await ask(rig.port, same("x-heterodyne-deadline-ms: 50"))
        assert (late.status, late.error["code"]) == (504, "deadline_exceeded")
        engine.opened.set()
        assert (await leader).status == 200
        reasons = [record.reason for record in await rig.wait_records(3)]
        assert sorted(reasons) == ["", "client_gone", "deadline_exceeded"]


async def test_a_stream_waits_for_nobody() -> None:
    engine = Turnstile()
    async with gateway_over(engine, caches=KEPT) as rig:
        leader = asyncio.create_task(ask(rig.port, same()))
        await rig.wait(lambda: len(rig.engine.calls) == 1)
        streamed = asyncio.create_task(ask(rig.port, same(stream=True)))
        await rig.wait(lambda: len(rig.engine.calls) == 2)
        engine.opened.set()
        await asyncio.gather(leader, streamed)


async def test_those_that_wait_when_the_gateway_stops_are_told() -> None:
    engine = Turnstile()
    async with gateway_over(engine, caches=KEPT, gateway={"drain_timeout_s": 0.2}) as rig:
        asked = [asyncio.create_task(ask(rig.port, same())) for _ in range(3)]
        await rig.wait(lambda: followers(rig) == 2)
        await rig.server.drain()
        answers = await asyncio.gather(*asked)
        assert {answer.error["code"] for answer in answers} == {"draining"}
