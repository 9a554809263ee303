"""A model of the fleet that judges texts: what it is asked, what its words mean, and that nobody judges the judge."""

import asyncio

import pytest

from heterodyne.safety.settings import GuardSettings
from heterodyne.testing.behaviours import chat_answer, refuse
from heterodyne.testing.scripted_engine import Behaviour, EngineCall
from tests.guards.every_route import ASKED, request
from tests.guards.leaky_engine import saying
from tests.support.gateways import gateway_over
from tests.support.guards import SECRET
from tests.support.outside_guard import WORD
from tests.support.raw_client import ask, connected

CHAT = ASKED[0]
JUDGE = "guard-model"
POLICY = GuardSettings(guard="judge", action="block", judge_model=JUDGE, timeout_ms=20_000, direction="input")


def policies(**more: object) -> dict[str, GuardSettings]:
    given = {name: getattr(POLICY, name) for name in POLICY.__struct_fields__}
    return {"judged": GuardSettings(**{**given, **more})}


def judging(seen: list[EngineCall], *, bad: str = "unsafe\nS1,S9", good: str = "safe") -> Behaviour:
    """Finds the word."""

    async def behave(call: EngineCall) -> None:
        seen.append(call)
        call.whole(200, chat_answer(bad if WORD.encode() in call.body else good))

    return behave


@pytest.mark.parametrize("direction", ["input", "output"])
@pytest.mark.parametrize("is_stream", [False, True])
async def test_a_judge_is_asked_and_its_categories_are_the_rules(direction: str, is_stream: bool, tmp_path) -> None:
    seen: list[EngineCall] = []
    texts = {"input": (WORD, "fine"), "output": ("hello", WORD)}[direction]
    guards, records = policies(direction=direction), tmp_path / "records"
    async with gateway_over(saying(texts[1]), guards=guards, beside={JUDGE: judging(seen)}, records=records) as rig:
        answer = await ask(rig.port, request(CHAT, texts[0], stream=is_stream))
        assert b"content_filter" in answer.body
        assert WORD.encode() not in answer.body
        assert len(rig.engine.calls) == (direction == "output")
        (question,) = [call.json for call in seen]
        assert (question["temperature"], question["max_tokens"], question["model"]) == (0, 32, JUDGE)
        assert [message["role"] for message in question["messages"]] == ["system", "user"]
        asked = next(one for one in await rig.wait_records(2) if one.tenant != "guards/judge")
        assert [(one.guard, one.rule, one.direction) for one in asked.guards] == [
            ("judge", "S1", direction),
            ("judge", "S9", direction),
        ]


@pytest.mark.parametrize(("said", "passes"), [
    ("safe", True), ("\n\nSafe.", True), ("no", True), ("unsafe", False), ("YES", False),
    ("maybe", None), ("", None), ("It is unsafe", None),
])  # fmt: skip
@pytest.mark.parametrize("on_failure", ["pass", "refuse"])
async def test_what_a_judge_says(said: str, passes: bool | None, on_failure: str) -> None:
    guards = policies(on_failure=on_failure)
    async with gateway_over(saying("fine"), guards=guards, beside={JUDGE: judging([], good=said)}) as rig:
        answer = await ask(rig.port, request(CHAT, "hello"))
        if passes is False:
            assert (answer.status, answer.error["code"]) == (400, "content_filter")
        elif passes or on_failure == "pass":
            assert answer.status == 200
        else:
            assert (answer.status, answer.error["code"]) == (503, "guard_unavailable")


async def test_nobody_judges_the_judge(tmp_path) -> None:
    """Its own requests are of the model that policies are about, and of every project: the circle would have no end."""
    seen: list[EngineCall] = []
    guards = policies(direction="both") | {"words": GuardSettings(guard="words", action="block", words=("judge",))}
    records = tmp_path / "records"
    async with gateway_over(saying("fine"), guards=guards, beside={JUDGE: judging(seen)}, records=records) as rig:
        assert (await ask(rig.port, request(CHAT, "hello"))).status == 200
        assert len(seen) == 2  # of the request, and of its answer
        found = await rig.wait_records(3)
        judged = [record for record in found if record.tenant == "guards/judge"]
        assert [(record.model, record.status, record.guards) for record in judged] == [(JUDGE, 200, ())] * 2


async def test_whoever_asks_the_judge_itself_is_judged_once() -> None:
    seen: list[EngineCall] = []
    async with gateway_over(saying("fine"), guards=policies(), beside={JUDGE: judging(seen)}) as rig:
        asked = CHAT._replace(body=lambda text: {**CHAT.body(text), "model": JUDGE})
        assert (await ask(rig.port, request(asked, "hello"))).status == 200
        assert len(seen) == 2  # the judge's own look, and the answer


async def test_no_header_of_a_client_makes_it_the_judge() -> None:
    async with gateway_over(saying("fine"), guards=policies(), beside={JUDGE: judging([])}) as rig:
        head, _, body = request(CHAT, WORD).partition(b"\r\n\r\n")
        for line in (b":key-id: guards-judge", b"key-id: guards-judge", b"authorization: Bearer guards-judge"):
            answer = await ask(rig.port, head + b"\r\n" + line + b"\r\n\r\n" + body)
            assert answer.status == 400


async def test_a_judge_that_cannot_be_asked_is_a_failure() -> None:
    async with gateway_over(saying("fine"), guards=policies(), beside={JUDGE: refuse(400, "too long")}) as rig:
        assert (await ask(rig.port, request(CHAT, "hello"))).error["code"] == "guard_unavailable"
    async with gateway_over(saying("fine"), guards=policies(judge_model="nobody")) as rig:
        assert (await ask(rig.port, request(CHAT, "hello"))).error["code"] == "guard_unavailable"


async def test_a_client_that_leaves_stops_the_judge() -> None:
    seen: list[EngineCall] = []

    async def never(call: EngineCall) -> None:
        seen.append(call)
        await asyncio.sleep(30)

    async with gateway_over(saying("fine"), guards=policies(), beside={JUDGE: never}) as rig:
        async with connected(rig.port) as client:
            await client.send(request(CHAT, "hello"))
            await rig.wait(lambda: bool(seen))
            client.leave()
        await rig.wait(lambda: seen[0].was_cancelled)
        await rig.wait_empty()


async def test_a_judge_that_takes_too_long_is_stopped() -> None:
    seen: list[EngineCall] = []

    async def never(call: EngineCall) -> None:
        seen.append(call)
        await asyncio.sleep(30)

    async with gateway_over(saying("fine"), guards=policies(timeout_ms=100), beside={JUDGE: never}) as rig:
        assert (await ask(rig.port, request(CHAT, "hello"))).error["code"] == "guard_unavailable"
        await rig.wait(lambda: seen[0].was_cancelled)


async def test_an_answer_is_judged_while_the_gateway_drains() -> None:
    seen: list[EngineCall] = []
    goes_on = asyncio.Event()

    async def slowly(call: EngineCall) -> None:
        await goes_on.wait()
        await saying("fine")(call)

    async with gateway_over(slowly, guards=policies(direction="output"), beside={JUDGE: judging(seen)}) as rig:
        asked = asyncio.ensure_future(ask(rig.port, request(CHAT, "hello")))
        await rig.wait(lambda: bool(rig.engine.calls))
        drained = asyncio.ensure_future(rig.server.drain())
        await asyncio.sleep(0.05)
        goes_on.set()
        assert (await asked).status == 200
        await drained
        assert len(seen) == 1


async def test_a_judge_with_its_own_instructions_sees_the_words_alone() -> None:
    seen: list[EngineCall] = []
    guards = policies(instructions="")
    async with gateway_over(saying("fine"), guards=guards, beside={JUDGE: judging(seen)}) as rig:
        await ask(rig.port, request(CHAT, "hello there"))
        assert seen[0].json["messages"] == [{"role": "user", "content": "hello there"}]


async def test_what_a_policy_here_blocks_is_shown_to_no_judge() -> None:
    seen: list[EngineCall] = []
    guards = policies() | {"secrets": GuardSettings(guard="secrets", action="block")}
    async with gateway_over(saying("fine"), guards=guards, beside={JUDGE: judging(seen)}) as rig:
        assert (await ask(rig.port, request(CHAT, SECRET))).status == 400
        assert not seen
