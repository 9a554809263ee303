"""A cheap model's answer is given where it may do; where it may not, the big one is asked, and nobody waits in vain."""

import asyncio
from pathlib import Path

import pytest
from openai import AsyncOpenAI

from heterodyne.caching.settings import CacheSettings
from heterodyne.domain.tenant import Scopes
from heterodyne.routing.cascade.settings import CascadeSettings
from heterodyne.testing.behaviours import chat_answer, refuse
from heterodyne.testing.scripted_engine import Behaviour, EngineCall
from tests.guards.every_route import ASKED, Asked, request
from tests.support.cascades import ALIAS, BIG, CHEAP, EASY, HARD, fitted_file
from tests.support.gateways import gateway_over
from tests.support.guards import BLOCKS, EMAIL, MASKS, SECRET
from tests.support.raw_client import Answer, ask, connected
from tests.support.requests import MODEL, chat
from tests.support.tenants import bearer, caller, tenants

MODEL_RULE = {"aliases": (ALIAS,)}
GENERATED = [one for one in ASKED if one.path.endswith(("/chat/completions", "/responses", "/messages"))]


async def big(call: EngineCall) -> None:
    call.whole(200, chat_answer("from the big one"))


async def small(call: EngineCall) -> None:
    """Whole answers alone; to what is hard it has nothing to say."""
    assert "stream" not in call.json
    is_hard = "lemma" in str(call.json["messages"])
    call.whole(200, chat_answer("" if is_hard else "from the small one"))


def question(text: str, *headers: str, **fields: object) -> bytes:
    fields = {"model": ALIAS, "messages": [{"role": "user", "content": text}]} | fields
    return chat(*headers, **fields)


def cascaded(fitted: Path, cheap: Behaviour = small, **more: object):
    settings = {name: more.pop(name) for name in ("latency_budget_ms", "keeps_when_late", "samples") if name in more}
    verifier = more.pop("verifier", None)
    beside = {CHEAP: cheap} | ({"verifier": verifier} if verifier else {})
    if verifier:
        settings["verifier_model"] = "verifier"
    cascades = {ALIAS: CascadeSettings(fitted=str(fitted), **settings)}
    return gateway_over(big, beside=beside, model=MODEL_RULE, cascades=cascades, **more)


def told(answer: Answer) -> tuple[str, str]:
    return answer.json["choices"][0]["message"]["content"], answer.headers["x-heterodyne-cascade"]


async def test_what_judges_do_not_doubt_is_given_and_the_rest_asked_of_the_big_model(tmp_path) -> None:
    async with cascaded(fitted_file(tmp_path, "structure"), records=tmp_path / "records") as rig:
        easy, hard = await ask(rig.port, question(EASY)), await ask(rig.port, question(HARD))
        assert told(easy) == ("from the small one", "cheap; within_bound")
        assert told(hard) == ("from the big one", "big; unusable_answer")
        assert len(rig.engine.calls) == 1
        assert easy.json["id"].endswith(easy.headers["x-request-id"])
        records = {record.id: record for record in await rig.wait_records(4)}
        kept, escalated = records[easy.headers["x-request-id"]], records[hard.headers["x-request-id"]]
        assert (kept.model, kept.asked_model, kept.pool, kept.usd) == (CHEAP, ALIAS, "cascade", 0.0)
        assert (kept.cascade, escalated.cascade) == ("cheap; within_bound", "big; unusable_answer")
        assert (escalated.model, escalated.pool) == (BIG, "pool")
        inner = [record for record in records.values() if record not in (kept, escalated)]
        assert {(record.model, record.pool) for record in inner} == {(CHEAP, CHEAP)}


async def test_without_judges_the_prompt_decides(tmp_path) -> None:
    async with cascaded(fitted_file(tmp_path), small) as rig:
        easy, hard = await ask(rig.port, question(EASY)), await ask(rig.port, question(HARD))
        assert easy.headers["x-heterodyne-cascade"] == "cheap; easy_prompt"
        assert (easy.headers["x-heterodyne-pool"], easy.json["choices"][0]["message"]["content"]) == (
            CHEAP,
            "from the small one",
        )
        assert hard.headers["x-heterodyne-cascade"] == "big; hard_prompt"
        assert hard.headers["x-heterodyne-pool"] == "pool"


async def test_the_model_s_own_name_and_other_requests_are_as_ever(tmp_path) -> None:
    async with cascaded(fitted_file(tmp_path, "structure")) as rig:
        for asked in (
            question(EASY, model=MODEL),
            question(EASY, "x-heterodyne-cascade: off"),
            question(EASY, n=2),
            question(EASY + " word" * 20_000),
        ):
            answer = await ask(rig.port, asked)
            assert (answer.status, "x-heterodyne-cascade" in answer.headers) == (200, False)
            assert answer.headers["x-heterodyne-pool"] == "pool"
        wrong = await ask(rig.port, question(EASY, "x-heterodyne-cascade: on"))
        assert wrong.error["param"] == "x-heterodyne-cascade"


@pytest.mark.parametrize("asked", GENERATED, ids=lambda asked: asked.path)
@pytest.mark.parametrize("is_stream", [False, True])
async def test_every_api_is_told_the_cheap_answer_in_its_words(asked: Asked, is_stream: bool, tmp_path) -> None:
    async with cascaded(fitted_file(tmp_path, "structure")) as rig:
        sent = request(asked, EASY, stream=is_stream).replace(b'"%b"' % MODEL.encode(), b'"%b"' % ALIAS.encode())
        sent = sent.replace(b"content-length: ", b"x-was: ")
        head, _, body = sent.partition(b"\r\n\r\n")
        answer = await ask(rig.port, head + b"\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
        assert answer.headers["x-heterodyne-cascade"] == "cheap; within_bound"
        assert b"from the small one" in answer.body
        assert not rig.engine.calls


async def silent(call: EngineCall) -> None:
    await asyncio.sleep(30)


@pytest.mark.parametrize("cheap", [refuse(500), refuse(400)])
async def test_a_cheap_model_that_fails_costs_no_answer(cheap, tmp_path) -> None:
    async with cascaded(fitted_file(tmp_path, "structure"), cheap) as rig:
        assert told(await ask(rig.port, question(EASY))) == ("from the big one", "big; not_judged")


async def test_the_deadline_and_the_client_end_the_try(tmp_path) -> None:
    async with cascaded(fitted_file(tmp_path, "structure"), silent, records=tmp_path / "records") as rig:
        late = await ask(rig.port, question(EASY, "x-heterodyne-deadline-ms: 300"))
        assert late.status in (200, 504), "the big model had the last moment, or there was none"
        async with connected(rig.port) as client:
            await client.send(question(EASY))
            await rig.wait(lambda: bool(rig.holds().exchanges))
        await rig.wait(lambda: not rig.holds().exchanges)
        assert "client_gone" in {record.reason for record in await rig.wait_records(3)}


async def test_log_probabilities_are_asked_for_and_not_told(tmp_path) -> None:
    def answer_of(call: EngineCall) -> dict[str, object]:
        assert call.json["logprobs"] is True
        sure = -0.01 if "lemma" not in str(call.json["messages"]) else -3.0
        tokens = [{"token": "x", "logprob": sure, "bytes": None, "top_logprobs": []}] * 5
        answer = chat_answer("from the small one")
        answer["choices"][0]["logprobs"] = {"content": tokens}  # type: ignore[index]
        return answer

    async def cheap(call: EngineCall) -> None:
        call.whole(200, answer_of(call))

    async with cascaded(
        fitted_file(tmp_path, "logprobs", doubt=lambda is_right: 0.01 if is_right else 0.95), cheap
    ) as rig:
        easy, hard = await ask(rig.port, question(EASY)), await ask(rig.port, question(HARD))
        assert told(easy) == ("from the small one", "cheap; within_bound")
        assert easy.json["choices"][0]["logprobs"] is None
        assert told(hard)[1] == "big; over_bound"


async def test_samples_that_disagree_ask_the_big_model(tmp_path) -> None:
    async def cheap(call: EngineCall) -> None:
        answer = chat_answer("The answer is 4.")
        if call.json.get("n") == 2:
            says = "7" if "lemma" in str(call.json["messages"]) else "4"
            choice = answer["choices"][0]  # type: ignore[index]
            others = [
                {**choice, "index": place, "message": {"role": "assistant", "content": f"It is {says}"}}
                for place in (0, 1)
            ]
            answer["choices"] = others
        call.whole(200, answer)

    async with cascaded(fitted_file(tmp_path, "consistency"), cheap, samples=2) as rig:
        assert told(await ask(rig.port, question(EASY))) == ("The answer is 4.", "cheap; within_bound")
        assert told(await ask(rig.port, question(HARD))) == ("from the big one", "big; over_bound")


async def test_an_answer_that_leaves_out_a_number_of_the_last_question_asks_the_big_model(tmp_path) -> None:
    async def cheap(call: EngineCall) -> None:
        call.whole(200, chat_answer("It is 1."))

    before = [{"role": "user", "content": "And 77?"}, {"role": "assistant", "content": "It is 77."}]
    async with cascaded(fitted_file(tmp_path, "left_out"), cheap) as rig:
        asked = question(EASY, messages=[*before, {"role": "user", "content": EASY}])
        assert told(await ask(rig.port, asked)) == ("It is 1.", "cheap; within_bound")
        assert told(await ask(rig.port, question(HARD))) == ("from the big one", "big; over_bound")


async def test_a_verifier_is_asked(tmp_path) -> None:
    async def cheap(call: EngineCall) -> None:
        call.whole(200, chat_answer("from the small one"))

    async def verify(call: EngineCall) -> None:
        asked = str(call.json["messages"])
        assert "from the small one" in asked
        call.whole(200, chat_answer("No." if "lemma" in asked else "Yes."))

    async with cascaded(fitted_file(tmp_path, "verifier"), cheap, verifier=verify) as rig:
        assert told(await ask(rig.port, question(EASY))) == ("from the small one", "cheap; within_bound")
        assert told(await ask(rig.port, question(HARD))) == ("from the big one", "big; over_bound")


async def test_without_time_for_both_the_prompt_decides(tmp_path) -> None:
    async with cascaded(fitted_file(tmp_path, "structure"), latency_budget_ms=0.001) as rig:
        easy, hard = await ask(rig.port, question(EASY)), await ask(rig.port, question(HARD))
        assert easy.headers["x-heterodyne-cascade"] == "cheap; easy_prompt"
        assert hard.headers["x-heterodyne-cascade"] == "big; no_time_to_try"


@pytest.mark.parametrize("is_stream", [False, True])
async def test_policies_look_at_the_question_and_at_the_kept_answer(is_stream: bool, tmp_path) -> None:
    async def leaky(call: EngineCall) -> None:
        assert EMAIL not in str(call.json)
        call.whole(200, chat_answer(f"for <EMAIL_1>: {SECRET}"))

    async with cascaded(fitted_file(tmp_path, "structure"), leaky, guards=BLOCKS | MASKS) as rig:
        blocked = await ask(rig.port, question(f"{EASY} {SECRET}", stream=is_stream))
        assert (blocked.status, blocked.error["code"]) == (400, "content_filter")
        answer = await ask(rig.port, question(f"{EASY} {EMAIL}", stream=is_stream))
        assert SECRET[:8].encode() not in answer.body


async def test_a_cascade_whose_file_is_gone_lets_the_big_model_answer(tmp_path) -> None:
    path = fitted_file(tmp_path, "structure")
    path.unlink()
    async with cascaded(path) as rig:
        answer = await ask(rig.port, question(EASY))
        assert answer.json["choices"][0]["message"]["content"] == "from the big one"
        assert "x-heterodyne-cascade" not in answer.headers


async def test_a_kept_answer_may_be_cached_for_the_cheap_model(tmp_path) -> None:
    calls: list[EngineCall] = []

    async def cheap(call: EngineCall) -> None:
        calls.append(call)
        await small(call)

    caches = {"all": CacheSettings(sampled=True)}
    async with cascaded(fitted_file(tmp_path, "structure"), cheap, caches=caches) as rig:
        for _ in range(2):
            assert told(await ask(rig.port, question(EASY)))[1] == "cheap; within_bound"
        assert len(calls) == 1


async def test_what_was_waited_for_the_cheap_model_counts_as_waiting(tmp_path) -> None:
    async def slow(call: EngineCall) -> None:
        await asyncio.sleep(0.2)
        await small(call)

    async with cascaded(fitted_file(tmp_path, "structure"), slow, records=tmp_path / "records") as rig:
        easy, hard = await ask(rig.port, question(EASY)), await ask(rig.port, question(HARD))
        records = {record.id: record for record in await rig.wait_records(4)}
        for answer in (easy, hard):
            record = records[answer.headers["x-request-id"]]
            assert record.queue_ms is not None
            assert record.queue_ms >= 200
            assert record.overhead_ms < record.queue_ms


async def test_a_response_in_the_background_has_the_cheap_answer(tmp_path) -> None:
    stores = {"url": f"sqlite:{tmp_path / 'documents.db'}"}
    async with cascaded(fitted_file(tmp_path, "structure"), stores=stores) as rig:
        url = f"http://127.0.0.1:{rig.port}/v1"
        async with asyncio.timeout(60), AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:
            begun = await client.responses.create(model=ALIAS, input=EASY, background=True)
            while (kept := await client.responses.retrieve(begun.id)).status in ("queued", "in_progress"):
                await asyncio.sleep(0.02)
        assert (kept.status, kept.output_text) == ("completed", "from the small one")
        assert not rig.engine.calls


async def test_a_key_that_may_not_ask_for_the_name_gets_neither_model(tmp_path) -> None:
    known = tenants(
        small=caller("acme/small", scopes=(Scopes(models=(CHEAP,)),)),
        both=caller("acme/both", scopes=(Scopes(models=(CHEAP, ALIAS)),)),
    )
    async with cascaded(fitted_file(tmp_path, "structure"), tenants=known, waits_ready=False) as rig:
        await rig.wait(lambda: rig.holds().replicas_takeable == 2)
        refused = await ask(rig.port, question(EASY, bearer("small")))
        assert (refused.status, refused.error["param"]) == (403, "model")
        assert told(await ask(rig.port, question(EASY, bearer("both"))))[1] == "cheap; within_bound"
