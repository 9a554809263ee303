"""A replica is asked what it is to be warm for before it counts as ready, and again after it was started anew."""

import json

import pytest

from heterodyne.domain.fleet import Health, Purpose, WarmUp
from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import EngineCall, ScriptedEngine
from tests.support.watches import replica, watching

WARM_UP = WarmUp(prompts=("Say hello.", "Count."), lengths=(50, 500), timeout_s=5.0)


def asked(engine: ScriptedEngine) -> list[str]:
    """What it was sent, in its order."""
    found = []
    for call in engine.calls:
        body = json.loads(call.body)
        found.append(body["messages"][0]["content"] if "messages" in body else body["input"])
    return found


@pytest.mark.parametrize("purpose", [None, Purpose.EMBED])
async def test_it_is_ready_once_it_has_answered_everything(purpose: Purpose | None) -> None:
    async with (
        ScriptedEngine(behaviours.answer()) as engine,
        watching(replica(engine.port, warm_up=WARM_UP, purpose=purpose)) as watched,
    ):
        await watched.until_health(Health.READY)
        said = asked(engine)
        assert said[:2] == ["Say hello.", "Count."]
        assert [text.count("word") for text in said[2:]] == [50, 500]
        looks = watched.probes["p-0"]
        await watched.until(lambda: watched.probes["p-0"] > looks + 5)
        assert len(engine.calls) == 4, "once"


async def test_nobody_is_sent_there_meanwhile() -> None:
    healths = []

    async def look(call: EngineCall) -> None:
        healths.append(watched.latest().health if watched.published else Health.STARTING)
        await behaviours.answer()(call)

    async with ScriptedEngine(look) as engine, watching(replica(engine.port, warm_up=WARM_UP)) as watched:
        await watched.until_health(Health.READY)
    assert set(healths) == {Health.STARTING}


async def test_one_that_fails_its_warm_up_is_not_ready_and_says_why() -> None:
    async with (
        ScriptedEngine(behaviours.refuse(500, "compiling went wrong")) as engine,
        watching(replica(engine.port, warm_up=WARM_UP)) as watched,
    ):
        await watched.until(lambda: watched.failed_probes["p-0"] >= 3)
        assert watched.seen().health is Health.STARTING
        assert "Its warm-up failed: p-0 answers 500" in (watched.seen().error or "")
        engine.behaviour = behaviours.answer()
        await watched.until_health(Health.READY)


async def test_which_tensors_a_model_takes_nobody_knows() -> None:
    async with (
        ScriptedEngine(behaviours.answer()) as engine,
        watching(replica(engine.port, warm_up=WARM_UP, purpose=Purpose.INFER)) as watched,
    ):
        await watched.until_health(Health.READY)
        assert engine.calls == []
