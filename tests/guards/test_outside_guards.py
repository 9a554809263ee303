"""Guards of somebody else's, asked over HTTP: what they block, what they flag, and what follows when they fail."""

import asyncio

import msgspec
import pytest

from heterodyne.gateway import collected_stream
from heterodyne.gateway.guards.remote import remote_guards
from heterodyne.safety.settings import GuardSettings
from heterodyne.testing.behaviours import EVENT_STREAM, chat_event, stream
from tests.caching.test_policies_see_hits import ALL, take
from tests.guards.every_route import ASKED, Asked, request
from tests.guards.leaky_engine import saying
from tests.support.gateways import Rig, gateway_over
from tests.support.guards import EMAIL, MASKS
from tests.support.outside_guard import RULE, WORD, OutsideGuard, outside_guard
from tests.support.raw_client import ask, connected
from tests.support.requests import chat, get, post

CHAT = ASKED[0]
SPOKEN = [asked for asked in ASKED if asked.speaks]
STREAMED = [asked for asked in ASKED if asked.stream is not None]
TOLD = [asked for asked in STREAMED if not asked.is_form]
FILTERED = {"/v1/messages": b'"refusal"', ASKED[-4].path: b'"SAFETY"'}


def name(asked: Asked) -> str:
    return asked.path


async def is_counted(rig: Rig, *labels: str) -> bool:
    """Whether the metrics have a verdict of the policy with these labels."""
    lines = (await ask(rig.port, get("/metrics"))).body.decode().splitlines()
    wanted = ("heterodyne_gateway_guard_verdicts_total{", 'policy="outside"', *labels)
    return any(all(one in line for one in wanted) for line in lines)


def refuses(asked: Asked) -> bytes:
    """How a client of this API is told that a filter ended the answer."""
    return FILTERED.get(asked.path, b'"content_filter"')


@pytest.mark.parametrize("asked", ASKED, ids=name)
async def test_what_an_outside_guard_finds_reaches_no_engine(asked: Asked) -> None:
    async with outside_guard() as guard, gateway_over(stream(), guards=guard.policies()) as rig:
        answer = await ask(rig.port, request(asked, f"a {WORD}"))
        assert answer.status == 400
        assert b"outside" in answer.body
        assert RULE.encode() in answer.body
        assert WORD.encode() not in answer.body
        assert not rig.engine.calls
        (question,) = guard.asked
        assert (question["direction"], question["project"]) == ("input", "local/local")
        assert any(WORD in text["text"] and text["where"] for text in question["texts"])


@pytest.mark.parametrize("asked", SPOKEN, ids=name)
@pytest.mark.parametrize("text", ["fine", WORD])
async def test_a_whole_answer_waits_for_the_verdict(asked: Asked, text: str) -> None:
    async with outside_guard() as guard, gateway_over(saying(text), guards=guard.policies(direction="output")) as rig:
        answer = await ask(rig.port, request(asked, "hello"))
        assert rig.engine.calls
        assert guard.asked[-1]["direction"] == "output"
        if text == WORD:
            assert WORD.encode() not in answer.body
            assert (answer.status, b"outside" in answer.body) in {(200, False), (400, True)}
        else:
            assert answer.status == 200
            assert b"fine" in answer.body


@pytest.mark.parametrize("asked", TOLD, ids=name)
@pytest.mark.parametrize("is_stream", [False, True])
async def test_the_client_is_told_in_its_own_words_that_a_filter_ended_the_answer(
    asked: Asked, is_stream: bool
) -> None:
    async with outside_guard() as guard, gateway_over(saying(WORD), guards=guard.policies(direction="output")) as rig:
        answer = await ask(rig.port, request(asked, "hello", stream=is_stream))
        assert answer.status == 200
        assert refuses(asked) in answer.body
        assert WORD[:3].encode() not in answer.body.replace(b"story", b"")


@pytest.mark.parametrize("asked", STREAMED, ids=name)
@pytest.mark.parametrize("is_held", [False, True])
async def test_a_stream_that_passes_is_the_same_for_its_client(asked: Asked, is_held: bool) -> None:
    async with outside_guard() as guard:
        policies = guard.policies(direction="output") if is_held else {}
        async with gateway_over(saying("fine"), guards=policies) as rig:
            answer = await ask(rig.port, request(asked, "hello", stream=True))
            assert answer.status == 200
            assert b"content_filter" not in answer.body
            assert (b"fin" in answer.body) or (b"fine" in answer.body)
            assert len(guard.asked) == is_held


async def test_nothing_of_a_stream_is_sent_before_the_verdict() -> None:
    async with outside_guard() as guard:
        guard.late_s = 20
        policies = guard.policies(direction="output")
        async with gateway_over(saying("fine"), guards=policies) as rig, connected(rig.port) as client:
            await client.send(request(CHAT, "hello", stream=True))
            await rig.wait(lambda: bool(guard.asked))
            assert guard.asked[0]["texts"][0]["text"].startswith("fine and so")
            assert not client.reader._buffer
            guard.goes_on.set()
            assert (await client.answer()).text.startswith("fine and so the story")


async def test_the_record_and_the_metrics_have_the_verdict(tmp_path) -> None:
    records = tmp_path / "records"
    async with outside_guard() as guard, gateway_over(stream(), guards=guard.policies(), records=records) as rig:
        await ask(rig.port, request(CHAT, WORD))
        (record,) = await rig.wait_records(1)
        (verdict,) = record.guards
        assert (verdict.policy, verdict.guard, verdict.version, verdict.rule) == ("outside", "http", "1", RULE)
        assert (verdict.score, verdict.where, verdict.action) == (0.9, "messages[0].content", "block")
        assert await is_counted(rig, 'guard="http"', 'rule="insect"', 'action="block"', 'direction="input"')


@pytest.mark.parametrize("direction", ["input", "output"])
@pytest.mark.parametrize("is_stream", [False, True])
async def test_a_policy_that_flags_makes_nobody_wait(direction: str, is_stream: bool) -> None:
    async with outside_guard() as guard:
        guard.late_s = 20
        policies = guard.policies(action="flag", direction=direction)
        async with gateway_over(saying(WORD), guards=policies) as rig:
            answer = await ask(rig.port, request(CHAT, WORD, stream=is_stream))
            assert answer.status == 200
            assert WORD in (answer.text if is_stream else answer.body.decode())
            guard.goes_on.set()
            async with asyncio.timeout(30):
                while not await is_counted(rig, 'action="flag"', f'direction="{direction}"'):
                    await asyncio.sleep(0.02)


async def test_a_stream_that_is_too_long_to_be_flagged_is_a_failure(monkeypatch) -> None:
    monkeypatch.setattr(collected_stream, "EVENTS_BYTES_MAX", 1000)
    async with outside_guard() as guard:
        policies = guard.policies(action="flag", direction="output")
        async with gateway_over(saying("fine"), guards=policies) as rig:
            assert (await ask(rig.port, request(CHAT, "hello", stream=True))).text.startswith("fine and so")
            page = (await ask(rig.port, get("/metrics"))).body
            assert b'heterodyne_gateway_guard_failures_total{direction="output"}' in page
            assert not guard.asked


async def test_a_flag_that_comes_in_time_is_in_the_record(tmp_path) -> None:
    async with outside_guard() as guard:

        async def slowly(call) -> None:
            await rig.wait(lambda: bool(guard.asked))
            await asyncio.sleep(0.1)
            await saying("fine")(call)

        policies = guard.policies(action="flag", direction="input")
        async with gateway_over(slowly, guards=policies, records=tmp_path / "records") as rig:
            await ask(rig.port, request(CHAT, WORD))
            (record,) = await rig.wait_records(1)
            assert [(one.rule, one.action) for one in record.guards] == [(RULE, "flag")]


@pytest.mark.parametrize("direction", ["input", "output"])
@pytest.mark.parametrize("is_stream", [False, True])
@pytest.mark.parametrize("on_failure", ["pass", "refuse", None])
@pytest.mark.parametrize("failure", ["late", "garbage", "status", "refused", "long_rule"])
async def test_what_follows_when_no_verdict_comes(failure: str, on_failure, direction: str, is_stream: bool) -> None:
    async with outside_guard() as guard:
        policies = guard.policies(on_failure=on_failure, direction=direction)
        fail(guard, failure)
        if failure == "late":
            policies = guard.policies(on_failure=on_failure, direction=direction, timeout_ms=50)
        elif failure == "refused":
            policies = guard.policies(on_failure=on_failure, direction=direction, url="http://127.0.0.1:1/")
        async with gateway_over(saying("fine"), guards=policies) as rig:
            answer = await ask(rig.port, request(CHAT, "hello", stream=is_stream))
            if on_failure == "pass":
                assert answer.status == 200
                assert b"fin" in answer.body
            else:
                assert (answer.status, answer.error["code"]) == (503, "guard_unavailable")
                assert len(rig.engine.calls) == (direction == "output")
            page = (await ask(rig.port, get("/metrics"))).body
            assert f'heterodyne_gateway_guard_failures_total{{direction="{direction}"}}'.encode() in page


def fail(guard: OutsideGuard, how: str) -> None:
    if how == "late":
        guard.late_s = 20
    elif how == "garbage":
        guard.answers = b'{"findings": ['
    elif how == "status":
        guard.status = 500
    elif how == "long_rule":
        guard.answers = msgspec.json.encode({"findings": [{"rule": "x" * 65, "score": 1}]})


async def test_a_client_that_leaves_ends_the_question(tmp_path) -> None:
    async with outside_guard() as guard:
        guard.late_s = 20
        records = tmp_path / "records"
        async with gateway_over(stream(), guards=guard.policies(), records=records) as rig:
            async with connected(rig.port) as client:
                await client.send(request(CHAT, "hello"))
                await rig.wait(lambda: bool(guard.asked))
                client.leave()
            await rig.wait(lambda: guard.cut_off == 1)
            (record,) = await rig.wait_records(1)
            assert record.reason == "client_gone"
            assert not rig.engine.calls


@pytest.mark.parametrize("is_stream", [False, True])
async def test_a_client_that_leaves_while_its_answer_is_judged(is_stream: bool, tmp_path) -> None:
    async with outside_guard() as guard:
        guard.late_s = 20
        records = tmp_path / "records"
        async with gateway_over(saying("fine"), guards=guard.policies(direction="output"), records=records) as rig:
            async with connected(rig.port) as client:
                await client.send(request(CHAT, "hello", stream=is_stream))
                await rig.wait(lambda: bool(guard.asked))
                client.leave()
            await rig.wait(lambda: guard.cut_off == 1)
            (record,) = await rig.wait_records(1)
            assert record.reason == "client_gone"


@pytest.mark.parametrize("direction", ["input", "output"])
async def test_a_deadline_may_be_shorter_than_the_guards_patience(direction: str) -> None:
    async with outside_guard() as guard:
        guard.late_s = 20
        async with gateway_over(saying("fine"), guards=guard.policies(direction=direction)) as rig:
            answer = await ask(rig.port, chat("x-heterodyne-deadline-ms: 200"))
            assert (answer.status, answer.error["code"]) == (504, "deadline_exceeded")
            await rig.wait(lambda: guard.cut_off == 1)


async def test_a_gateway_that_drains_waits_for_the_verdict_on_an_answer() -> None:
    async with outside_guard() as guard:
        guard.late_s = 20
        async with gateway_over(saying("fine"), guards=guard.policies(direction="output")) as rig:
            asked = asyncio.ensure_future(ask(rig.port, request(CHAT, "hello")))
            await rig.wait(lambda: bool(guard.asked))
            drained = asyncio.ensure_future(rig.server.drain())
            await asyncio.sleep(0.1)
            assert not drained.done()
            guard.goes_on.set()
            assert b"fine" in (await asked).body
            await drained


async def test_a_gateway_that_ends_refuses_what_waits_for_a_verdict() -> None:
    async with outside_guard() as guard:
        guard.late_s = 20
        async with gateway_over(stream(), guards=guard.policies(), gateway={"drain_timeout_s": 0.1}) as rig:
            asked = asyncio.ensure_future(ask(rig.port, request(CHAT, "hello")))
            await rig.wait(lambda: bool(guard.asked))
            await rig.server.drain()
            answer = await asked
            assert (answer.status, answer.error["code"]) == (503, "draining")


async def test_several_guards_are_asked_at_once_and_one_that_blocks_is_enough() -> None:
    async with outside_guard() as quick, outside_guard() as slow:
        slow.late_s = 20
        policies = {"slow": slow.settings(), "quick": quick.settings()}
        async with gateway_over(stream(), guards=policies) as rig:
            answer = await ask(rig.port, request(CHAT, WORD))
            assert b"quick" in answer.body
            await rig.wait(lambda: slow.cut_off == 1)


async def test_guards_elsewhere_are_asked_about_what_those_here_let_pass() -> None:
    async with outside_guard() as guard:
        words = {"words": GuardSettings(guard="words", action="block", words=("forbidden",))}
        async with gateway_over(saying("fine"), guards=guard.policies() | words) as rig:
            assert (await ask(rig.port, request(CHAT, "forbidden"))).status == 400
            assert not guard.asked
            long = "many words of a long text " * 400
            assert (await ask(rig.port, request(CHAT, long))).status == 200
            assert [one["direction"] for one in guard.asked] == ["input", "output"]


@pytest.mark.parametrize("is_stream", [False, True])
async def test_masked_values_do_not_leave_for_guards_elsewhere(is_stream: bool) -> None:
    async with outside_guard() as guard:
        policies = guard.policies() | MASKS
        async with gateway_over(saying("I wrote to <EMAIL_1> and bob@example.org"), guards=policies) as rig:
            answer = await ask(rig.port, request(CHAT, f"write to {EMAIL}", stream=is_stream))
            said = answer.text if is_stream else answer.body.decode()
            assert f"I wrote to {EMAIL} and <EMAIL_2>" in said
            texts = str(guard.asked)
            assert EMAIL not in texts
            assert "bob@example.org" not in texts
            assert texts.count("<EMAIL_1>") == 2


@pytest.mark.parametrize("is_stream", [False, True])
async def test_a_long_answer_is_read_beside_the_worker(is_stream: bool) -> None:
    long = "many words of a long text " * 4000
    async with outside_guard() as guard:
        for word in ("", WORD):
            policies = guard.policies(direction="output")
            async with gateway_over(saying(f"{long}{word}", more=""), guards=policies) as rig:
                answer = await ask(rig.port, request(CHAT, "hello", stream=is_stream))
                assert (b"content_filter" in answer.body) is bool(word)
                assert (len(answer.body) > len(long)) is not bool(word)


@pytest.mark.parametrize("size", [20_000, 600_000])
@pytest.mark.parametrize("word", ["", WORD])
async def test_a_long_body_is_read_beside_the_worker(size: int, word: str) -> None:
    text = "many words of a long text " * (size // 26) + word
    async with outside_guard() as guard, gateway_over(saying("fine"), guards=guard.policies(direction="input")) as rig:
        answer = await ask(rig.port, request(CHAT, text))
        assert answer.status == (400 if word else 200)
        assert guard.asked[0]["texts"] == [{"where": "messages[0].content", "text": text}]


async def test_a_prompt_of_token_ids_is_refused() -> None:
    async with outside_guard() as guard, gateway_over(stream(), guards=guard.policies()) as rig:
        body = msgspec.json.encode({"model": "scripted", "prompt": [1, 2, 3]})
        answer = await ask(rig.port, post("/v1/completions", body))
        assert answer.status == 400
        assert b"cannot read token ids" in answer.body


async def test_the_key_is_sent_and_stands_in_no_file(monkeypatch) -> None:
    monkeypatch.setenv("GUARD_KEY", "opensesame")
    async with outside_guard() as guard:
        policies = guard.policies(api_key_env="GUARD_KEY")
        async with gateway_over(stream(), guards=policies) as rig:
            await ask(rig.port, request(CHAT, "hello"))
            assert "authorization: Bearer opensesame\r\n" in guard.heads[0]
            assert guard.heads[0].startswith("POST /look?v=1 HTTP/1.1\r\n")


@pytest.mark.parametrize("is_stream", [False, True])
async def test_kept_answers_are_judged_again(is_stream: bool) -> None:
    async with outside_guard() as guard, gateway_over(saying(f"take {WORD}"), caches=ALL) as rig:
        first = await ask(rig.port, request(CHAT, "hello", stream=is_stream))
        assert first.status == 200
        take(rig, guards=guard.policies(direction="output"))
        again = await ask(rig.port, request(CHAT, "hello", stream=is_stream))
        assert again.headers["x-heterodyne-cache"] == "hit"
        assert b"content_filter" in again.body
        assert b"take" not in again.body
        guard.answers = b'{"findings": []}'
        passed = await ask(rig.port, request(CHAT, "hello", stream=is_stream))
        assert WORD in (passed.text if is_stream else passed.body.decode())
        assert len(rig.engine.calls) == 1
        assert len(guard.asked) == 2


async def test_a_held_stream_that_breaks_off_is_asked_for_elsewhere() -> None:
    async def break_off(call) -> None:
        call.head(200, *EVENT_STREAM)
        call.event(chat_event("half"))
        await asyncio.sleep(0.05)
        call.reset()

    behaviours = iter((break_off, saying("fine")))

    async def either(call) -> None:
        await next(behaviours)(call)

    async with outside_guard() as guard:
        policies = guard.policies(direction="output")
        async with gateway_over(either, either, guards=policies) as rig:
            answer = await ask(rig.port, request(CHAT, "hello", stream=True))
            assert answer.text.startswith("fine and so")
            assert len(guard.asked) == 1


async def test_policies_that_are_only_asked_elsewhere_leave_other_answers_alone() -> None:
    async with outside_guard() as guard, gateway_over(saying("fine"), guards=guard.policies(models=("other",))) as rig:
        assert (await ask(rig.port, request(CHAT, WORD))).status == 200
        assert not guard.asked


async def test_connections_to_a_guard_are_kept_and_let_go_with_its_policy() -> None:
    async with outside_guard() as guard, gateway_over(saying("fine"), guards=guard.policies()) as rig:
        for _ in range(3):
            assert (await ask(rig.port, request(CHAT, "hello"))).status == 200
        assert (len(guard.asked), guard.connections) == (6, 1)
        take(rig, guards={})
        await rig.wait(lambda: guard.closed == 1)


async def test_a_guard_that_closes_its_connections_is_asked_again() -> None:
    async with outside_guard() as guard, gateway_over(saying("fine"), guards=guard.policies()) as rig:
        assert (await ask(rig.port, request(CHAT, "hello"))).status == 200
        guard.hang_up()
        assert (await ask(rig.port, request(CHAT, "hello"))).status == 200


async def test_too_many_that_wait_for_a_verdict_are_a_failure(monkeypatch) -> None:
    monkeypatch.setattr(remote_guards, "LOOKS_MAX", 1)
    async with outside_guard() as guard:
        guard.late_s = 20
        async with gateway_over(saying("fine"), guards=guard.policies(direction="input")) as rig:
            first = asyncio.ensure_future(ask(rig.port, request(CHAT, "hello")))
            await rig.wait(lambda: bool(guard.asked))
            assert (await ask(rig.port, request(CHAT, "hello"))).error["code"] == "guard_unavailable"
            guard.goes_on.set()
            assert (await first).status == 200


async def test_too_many_that_are_flagged_are_a_failure_and_go_on(monkeypatch) -> None:
    monkeypatch.setattr(remote_guards, "BESIDE_MAX", 1)
    async with outside_guard() as guard:
        guard.late_s = 20
        async with gateway_over(saying("fine"), guards=guard.policies(action="flag", direction="input")) as rig:
            for _ in range(3):
                assert (await ask(rig.port, request(CHAT, "hello"))).status == 200
            await rig.wait(lambda: bool(guard.asked))
            assert len(guard.asked) == 1
            page = (await ask(rig.port, get("/metrics"))).body
            assert b'heterodyne_gateway_guard_failures_total{direction="input"}' in page


async def test_a_guard_cannot_fill_the_metrics_with_names(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(remote_guards, "RULES_MAX", 2)
    records = tmp_path / "records"
    async with outside_guard() as guard, gateway_over(stream(), guards=guard.policies(), records=records) as rig:
        found = [{"rule": f"r{number}", "score": 1} for number in range(4)]
        guard.answers = msgspec.json.encode({"findings": found})
        assert (await ask(rig.port, request(CHAT, "hello"))).status == 400
        (record,) = await rig.wait_records(1)
        assert [one.rule for one in record.guards] == ["r0", "r1", "other", "other"]


async def test_findings_that_the_guard_is_not_sure_of_do_not_count() -> None:
    async with outside_guard() as guard, gateway_over(saying("fine"), guards=guard.policies(score_min=0.95)) as rig:
        assert (await ask(rig.port, request(CHAT, WORD))).status == 200
        assert guard.asked


async def test_a_transcript_in_plain_text_is_judged() -> None:
    asked = next(one for one in ASKED if one.path == "/v1/audio/transcriptions")
    srt = asked._replace(body=lambda text: {**asked.body(text), "response_format": "srt"})
    async with outside_guard() as guard, gateway_over(saying(WORD), guards=guard.policies(direction="output")) as rig:
        answer = await ask(rig.port, request(srt, "hello"))
        assert (answer.status, answer.error["code"]) == (400, "content_filter")
        guard.answers = b'{"findings": []}'
        assert WORD.encode() in (await ask(rig.port, request(srt, "hello"))).body


async def test_every_choice_of_a_held_stream_is_judged() -> None:
    async def two(call) -> None:
        call.head(200, *EVENT_STREAM)
        for index, text in ((0, "fine "), (1, "a "), (0, "words"), (1, WORD)):
            event = chat_event(text)
            event["choices"][0]["index"] = index
            call.event(event)
        for index in (0, 1):
            event = chat_event(None, finish_reason="stop")
            event["choices"][0]["index"] = index
            call.event(event)
        call.event(b"[DONE]")
        call.write(b"0\r\n\r\n")

    async with outside_guard() as guard, gateway_over(two, guards=guard.policies(direction="output")) as rig:
        answer = await ask(rig.port, chat(stream=True, n=2))
        choices = [msgspec.json.decode(event)["choices"] for event in answer.events if event != b"[DONE]"]
        told = [choice for one in choices for choice in one]
        said = {
            index: "".join(one["delta"].get("content") or "" for one in told if one["index"] == index)
            for index in (0, 1)
        }
        ends = {one["index"]: one["finish_reason"] for one in told if one["finish_reason"]}
        assert said == {0: "fine words", 1: ""}
        assert ends == {0: "stop", 1: "content_filter"}
