"""No request and no answer goes around the policies: every route, every dialect, whole and streamed."""

import asyncio

import msgspec
import pytest

from heterodyne.gateway.dialects import gemini
from heterodyne.safety.finding import Finding
from heterodyne.safety.registry import GUARDS, Finder, GuardKind
from heterodyne.safety.settings import GuardSettings
from heterodyne.testing.behaviours import EVENT_STREAM, chat_event, refuse, stream
from heterodyne.testing.scripted_engine import EngineCall
from tests.guards.every_route import ASKED, GEMINI, TENSORS, Asked, paths_that_infer, request
from tests.guards.leaky_engine import saying
from tests.guards.matrix import SPOKEN, STREAMED, tried
from tests.support.gateways import gateway_over
from tests.support.guards import BLOCKS, EMAIL, MASKS, SECRET
from tests.support.raw_client import ask
from tests.support.requests import get

LOOP_S_MAX = 0.05
OPEN_INFERENCE = {"model": "tensors", "engine": "open_inference"}


def name(asked: Asked) -> str:
    return asked.path


def test_every_route_that_asks_an_engine_is_tried_here() -> None:
    tried = {asked.path for asked in ASKED}
    assert paths_that_infer() <= tried
    assert {f"{GEMINI}{verb}" for verb in gemini.VERBS if not verb.startswith("stream")} <= tried


@tried("plain", "in")
async def test_a_secret_on_its_way_in_reaches_no_engine(asked: Asked) -> None:
    pool = OPEN_INFERENCE if asked is TENSORS else None
    async with gateway_over(stream(), guards=BLOCKS, pool=pool, waits_ready=pool is None) as rig:
        answer = await ask(rig.port, request(asked, f"use {SECRET}"))
        assert answer.status == 400
        assert b"no-secrets" in answer.body
        assert SECRET.encode() not in answer.body
        assert not [call for call in rig.engine.calls if SECRET.encode() in call.body]


@tried("plain", "out")
async def test_a_secret_on_its_way_out_reaches_no_client(asked: Asked) -> None:
    async with gateway_over(saying(f"take {SECRET}"), guards=BLOCKS) as rig:
        answer = await ask(rig.port, request(asked, "hello"))
        assert rig.engine.calls
        assert SECRET[:8].encode() not in answer.body
        assert (answer.status, b"no-secrets" in answer.body) in {(200, False), (400, True)}


@tried("stream", "out")
async def test_a_secret_in_a_stream_reaches_no_client(asked: Asked) -> None:
    async with gateway_over(saying(f"take {SECRET}"), guards=BLOCKS) as rig:
        answer = await ask(rig.port, request(asked, "hello", stream=True))
        assert SECRET[:8].encode() not in answer.body
        if not asked.is_form:
            assert answer.status == 200
            assert b"take" in answer.body
            assert b"story" not in answer.body


@pytest.mark.parametrize("asked", [one for one in SPOKEN if not one.is_form and one.stream is not None], ids=name)
@pytest.mark.parametrize("is_stream", [False, True])
async def test_the_client_is_told_in_its_own_words_that_a_filter_ended_the_answer(
    asked: Asked, is_stream: bool
) -> None:
    words = {"/v1/messages": b'"refusal"', ASKED[-4].path: b'"SAFETY"'}
    async with gateway_over(saying(f"take {SECRET}"), guards=BLOCKS) as rig:
        answer = await ask(rig.port, request(asked, "hello", stream=is_stream))
        assert words.get(asked.path, b'"content_filter"') in answer.body


@pytest.mark.parametrize("asked", [one for one in STREAMED if not one.is_form], ids=name)
@pytest.mark.parametrize("is_stream", [False, True])
async def test_what_is_masked_on_its_way_in_is_put_back_on_its_way_out(asked: Asked, is_stream: bool) -> None:
    async with gateway_over(saying("I wrote to <EMAIL_1> today"), guards=MASKS) as rig:
        answer = await ask(rig.port, request(asked, f"write to {EMAIL}", stream=is_stream))
        assert answer.status == 200
        assert EMAIL.encode() not in rig.engine.calls[-1].body
        assert b"<EMAIL_1>" in rig.engine.calls[-1].body
        assert b"<EMAIL_1>" not in answer.body
        if not is_stream:
            assert EMAIL.encode() in answer.body


async def test_a_placeholder_stands_for_nothing_in_the_answer_to_another_request() -> None:
    async with gateway_over(saying("ask <EMAIL_1>"), guards=MASKS) as rig:
        asked = ASKED[0]
        assert EMAIL.encode() in (await ask(rig.port, request(asked, EMAIL))).body
        assert b"ask <EMAIL_1>" in (await ask(rig.port, request(asked, "hello"))).body


async def test_policies_of_others_do_not_hold() -> None:
    others = {"theirs": GuardSettings(guard="secrets", action="block", projects=("acme/*",))}
    async with gateway_over(saying(SECRET), guards=others) as rig:
        answer = await ask(rig.port, request(ASKED[0], SECRET))
        assert answer.status == 200
        assert SECRET.encode() in answer.body


@pytest.mark.parametrize("size", [6_000, 600_000])
async def test_a_long_body_is_looked_at_beside_the_worker(size: int) -> None:
    async with gateway_over(saying("fine"), guards=BLOCKS | MASKS) as rig:
        text = f"{EMAIL} " + "many words of a long text " * (size // 26)
        assert (await ask(rig.port, request(ASKED[0], text))).status == 200
        assert EMAIL.encode() not in rig.engine.calls[-1].body
        answer = await ask(rig.port, request(ASKED[0], text + SECRET))
        assert (answer.status, answer.error["code"]) == (400, "content_filter")


async def test_a_long_answer_is_looked_at_beside_the_worker() -> None:
    for size in (6_000, 200_000):
        long = "many words of a long text " * (size // 26)
        async with gateway_over(saying(f"{long} {SECRET}"), guards=BLOCKS) as rig:
            answer = await ask(rig.port, request(ASKED[0], "hello"))
            assert answer.json["choices"][0]["finish_reason"] == "content_filter"
            assert SECRET.encode() not in answer.body


async def test_verdicts_are_in_the_record_and_the_metrics(tmp_path) -> None:
    async with gateway_over(saying(f"take {SECRET}"), guards=BLOCKS, records=tmp_path / "records") as rig:
        await ask(rig.port, request(ASKED[0], SECRET))
        await ask(rig.port, request(ASKED[0], "hello"))
        refused, answered = await rig.wait_records(2)
        assert [(one.direction, one.rule, one.action) for one in refused.guards] == [
            ("input", "anthropic_key", "block")
        ]
        assert (refused.status, refused.reason, refused.operation) == (400, "content_filter", "chat")
        assert [(one.direction, one.policy) for one in answered.guards] == [("output", "no-secrets")]
        assert SECRET not in msgspec.json.encode([refused, answered]).decode()


async def test_a_stream_that_is_cut_stops_its_engine() -> None:
    async with gateway_over(saying(f"take {SECRET}", more=" word" * 20_000), guards=BLOCKS) as rig:
        answer = await ask(rig.port, request(ASKED[0], "hello", stream=True))
        assert answer.events[-1] == b"[DONE]"
        await rig.wait_cancelled()


@pytest.mark.parametrize("is_stream", [False, True])
async def test_an_error_of_an_engine_tells_no_secret(is_stream: bool) -> None:
    async with gateway_over(refuse(400, f"cannot read {SECRET}"), guards=BLOCKS) as rig:
        answer = await ask(rig.port, request(ASKED[0], "hello", stream=is_stream))
        assert answer.status == 400
        assert SECRET.encode() not in answer.body
        assert b"withheld by a policy" in answer.body


async def test_an_error_in_the_middle_of_a_stream_tells_no_secret() -> None:
    async def give_up(call: EngineCall) -> None:
        call.head(200, *EVENT_STREAM)
        call.event(chat_event("well, "))
        call.event({"error": {"message": f"no room for {SECRET}", "code": 500}})
        call.write(b"0\r\n\r\n")

    async with gateway_over(give_up, guards=BLOCKS) as rig:
        answer = await ask(rig.port, request(ASKED[0], "hello", stream=True))
        assert b'"error"' in answer.body
        assert SECRET.encode() not in answer.body


async def test_what_holds_up_others_is_done_beside_the_worker() -> None:
    """Of processor time, which a busy machine does not stretch; in the loop the long one would take many times."""
    numbers = "4111 1111 1111 1112 or 415 555 2671, " * 1500
    async with gateway_over(saying("fine"), guards=BLOCKS | {"pii": GuardSettings(guard="pii", action="mask")}) as rig:
        for text in ("warm up", numbers[:4000], numbers):
            assert (await ask(rig.port, request(ASKED[0], text))).status == 200
        _, longest_s = rig.server.longest_turn_s
        assert longest_s < LOOP_S_MAX


class BrokenGuard:
    """Fails whatever it looks at."""

    def __call__(self, text: str) -> list[Finding]:
        raise ZeroDivisionError(f"{len(text)} characters")


@pytest.mark.parametrize("is_stream", [False, True])
@pytest.mark.parametrize(("action", "direction", "passes"), [
    ("flag", "input", True), ("block", "input", False), ("flag", "output", True), ("mask", "output", False),
])  # fmt: skip
async def test_a_guard_that_fails_lets_nothing_pass_but_what_it_only_watches(
    monkeypatch, action, direction, passes, is_stream
) -> None:
    monkeypatch.setitem(GUARDS, "broken", GuardKind(version="1", make=lambda _: Finder(BrokenGuard()), heeds=()))
    policies = {"broken": GuardSettings(guard="broken", action=action, direction=direction)}
    async with gateway_over(saying("words that nobody has seen"), guards=policies) as rig:
        answer = await ask(rig.port, request(ASKED[0], "hello", stream=is_stream))
        said = answer.text if is_stream and passes else answer.body.decode()
        assert ("nobody has seen" in said) is passes
        if not is_stream:
            assert (answer.status == 200) is passes


async def test_what_is_only_flagged_is_looked_at_while_a_long_request_goes_on(tmp_path) -> None:
    watches = {"watch": GuardSettings(guard="secrets", direction="input")}
    text = f"{SECRET} " + "many words of a long text " * 300
    async with gateway_over(saying("fine"), guards=watches, records=tmp_path / "records") as rig:
        assert (await ask(rig.port, request(ASKED[0], text))).status == 200
        assert SECRET.encode() in rig.engine.calls[-1].body
        async with asyncio.timeout(30):
            while b'policy="watch"' not in (await ask(rig.port, get("/metrics"))).body:
                await asyncio.sleep(0.05)
