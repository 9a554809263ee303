"""Who is refused before it waits: whoever would be late, and whoever fills the queue, not whoever stands beside it."""

import asyncio

from heterodyne.domain.urgency import Tier
from tests.support.gateways import Rig, gateway_over
from tests.support.raw_client import Answer, ask
from tests.support.requests import chat, get
from tests.support.tenants import bearer, caller, tenants
from tests.support.turnstile import Turnstile

ONE = {"in_flight_max": 1}
WAIT_S = 5.0


async def test_a_request_that_would_be_late_is_refused_before_it_waits() -> None:
    turnstile = Turnstile()
    callers = tenants(gold=caller(tier=Tier.GOLD))
    async with gateway_over(turnstile, pool=ONE, model={"slo_ttft_ms": 1500.0}, tenants=callers) as rig:
        busy = asyncio.create_task(ask(rig.port, chat(bearer("gold"))))
        await turnstile.wait_came(1)
        waiting = [asyncio.create_task(ask(rig.port, chat(bearer("gold")))) for _ in range(40)]
        refused = await _first_refusal(waiting)
        assert refused.error["code"] == "not_in_time"
        assert "first token would come after" in refused.error["message"]
        assert int(refused.headers["retry-after"]) >= 1
        turnstile.let(41)
        assert (await busy).status == 200
        answers = await asyncio.gather(*waiting)
        assert {answer.status for answer in answers} <= {200, 503}
        assert {answer.error["code"] for answer in answers if answer.status == 503} == {"not_in_time"}
        await rig.wait_empty()


async def test_a_tenant_that_floods_does_not_have_others_of_its_tier_refused() -> None:
    turnstile = Turnstile()
    callers = tenants(loud=caller("acme/loud", tier=Tier.BRONZE), quiet=caller("acme/quiet", tier=Tier.BRONZE))
    async with gateway_over(turnstile, pool=ONE, tenants=callers, admission={"queue_max": 20}) as rig:
        busy = asyncio.create_task(ask(rig.port, chat(bearer("loud"))))
        await turnstile.wait_came(1)
        loud = [asyncio.create_task(ask(rig.port, chat(bearer("loud")))) for _ in range(60)]
        refused = await _settled(rig, loud)
        assert {answer.error["code"] for answer in refused} == {"shed"}
        assert all(int(answer.headers["retry-after"]) >= 1 for answer in refused)
        deep = len(loud) - len(refused)
        assert 2 <= deep <= 10, "bronze has the first half of the queue at most"
        quiet = asyncio.create_task(ask(rig.port, chat(bearer("quiet"))))
        await _settled(rig, [*loud, quiet])
        assert not quiet.done(), "it waits, although nobody who floods may"
        turnstile.let(deep + 2)
        assert (await busy).status == (await quiet).status == 200
        assert sum(answer.status == 200 for answer in await asyncio.gather(*loud)) == deep


async def _first_refusal(tasks: "list[asyncio.Task[Answer]]") -> Answer:
    async with asyncio.timeout(WAIT_S):
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    answer = done.pop().result()
    assert answer.status == 503
    return answer


async def _settled(rig: Rig, tasks: "list[asyncio.Task[Answer]]") -> list[Answer]:
    """What was refused, once everybody else is seen to wait."""
    async with asyncio.timeout(WAIT_S):
        while await _queue_depth(rig) + sum(task.done() for task in tasks) < len(tasks):
            await asyncio.sleep(0.005)
    return [task.result() for task in tasks if task.done()]


async def _queue_depth(rig: Rig) -> int:
    page = (await ask(rig.port, get("/metrics"))).body.decode()
    lines = [line for line in page.splitlines() if line.startswith("heterodyne_admission_queue_depth{")]
    return sum(int(float(line.rpartition(" ")[2])) for line in lines)
