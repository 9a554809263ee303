"""The same request is answered again without a replica: whole or streamed, in every API, for whoever asked before."""

import msgspec
import pytest

from heterodyne.caching.settings import CacheSettings
from heterodyne.testing.behaviours import EVENT_STREAM, chat_answer, chat_event, refuse, stream
from heterodyne.testing.scripted_engine import EngineCall
from tests.guards.every_route import ASKED, Asked, request
from tests.guards.leaky_engine import saying
from tests.support.gateways import Rig, gateway_over
from tests.support.raw_client import Answer, ask
from tests.support.requests import MODEL, chat, get, post
from tests.support.tenants import bearer, caller, tenants

KEPT = {"kept": CacheSettings()}
ALL = {"all": CacheSettings(sampled=True)}
GENERATES = ("/v1/chat/completions", "/v1/completions", "/v1/responses", "/v1/messages", "generateContent")
GENERATED = [asked for asked in ASKED if asked.path.endswith(GENERATES)]
PRICED = {"price_usd_per_million_prompt_tokens": 1000.0, "price_usd_per_million_completion_tokens": 1000.0}
WORDS = "the quick brown fox jumps"


def same(**fields: object) -> bytes:
    return chat(temperature=0, **fields)


def outcome(answer: Answer) -> str:
    return answer.headers["x-heterodyne-cache"]


async def test_the_same_answer_under_its_own_id() -> None:
    async with gateway_over(stream(), caches=KEPT) as rig:
        first, again = await ask(rig.port, same()), await ask(rig.port, same())
        assert (outcome(first), outcome(again)) == ("miss", "hit")
        assert again.headers["age"] == "0"
        assert "x-heterodyne-replica" not in again.headers
        assert again.json["choices"] == first.json["choices"]
        assert again.json["usage"] == first.json["usage"]
        assert again.json["id"] == f"chatcmpl-{again.headers['x-request-id']}"
        assert len(rig.engine.calls) == 1


async def test_a_body_that_is_spelt_otherwise_is_the_same_request() -> None:
    async with gateway_over(stream(), caches=KEPT) as rig:
        await ask(rig.port, same(max_tokens=5))
        body = b'{"max_tokens": 5, "temperature" : 0.0, "user":"me", "messages":[{"content":"hi","role":"user"}],'
        again = await ask(rig.port, post("/v1/chat/completions", body + b'"model":"%b"}' % MODEL.encode()))
        assert outcome(again) == "hit"


@pytest.mark.parametrize("asked", GENERATED, ids=lambda asked: asked.path)
@pytest.mark.parametrize("first_streams", [False, True])
@pytest.mark.parametrize("then_streams", [False, True])
async def test_an_answer_is_told_whole_or_streamed_however_it_came(
    asked: Asked, first_streams: bool, then_streams: bool
) -> None:
    async with gateway_over(saying(WORDS, more=""), caches=ALL) as rig:
        first = await ask(rig.port, request(asked, "hello", stream=first_streams))
        plain = await ask(rig.port, request(asked, "other", stream=then_streams))
        again = await ask(rig.port, request(asked, "hello", stream=then_streams))
        assert (outcome(first), outcome(again), len(rig.engine.calls)) == ("miss", "hit", 2)
        assert again.headers["content-type"] == plain.headers["content-type"]
        assert spoken(again) == spoken(plain) == WORDS


def spoken(answer: Answer) -> str:
    """Every text that a client would show, in the order in which it came."""
    if not answer.headers["content-type"].startswith("text/event-stream"):
        return "".join(_texts(answer.json))
    lines = [line for line in answer.body.split(b"\n") if line.startswith(b"data: {")]
    events = [msgspec.json.decode(line[6:]) for line in lines]
    growing = [event for event in events if "delta" in str(event) or "candidates" in event or "choices" in event]
    whole = ("response.output_text.done", "response.content_part.done", "response.output_item.done")
    return "".join(
        text
        for event in growing
        if event.get("type") not in (*whole, "response.completed", "response.created", "response.in_progress")
        for text in _texts(event)
    )


def _texts(value: object) -> list[str]:
    if isinstance(value, dict):
        own = [one for name, one in value.items() if name in ("content", "text", "delta") and isinstance(one, str)]
        return own + [text for one in value.values() if isinstance(one, (dict, list)) for text in _texts(one)]
    return [text for one in value for text in _texts(one)] if isinstance(value, list) else []


async def test_apis_share_what_is_the_same_in_them() -> None:
    async with gateway_over(saying(WORDS, more=""), caches=ALL) as rig:
        messages = [{"role": "user", "content": "hello"}]
        body = msgspec.json.encode({"model": MODEL, "messages": messages, "max_tokens": 64})
        await ask(rig.port, post("/v1/chat/completions", body))
        again = await ask(rig.port, post("/v1/messages", body))
        assert outcome(again) == "hit"
        assert again.json["content"][0]["text"] == WORDS
        assert len(rig.engine.calls) == 1


@pytest.mark.parametrize("path", ["/v1/embeddings", "/v1/rerank", "/v1/score", "/v1/moderations"])
async def test_what_nobody_draws_by_chance_is_kept_without_being_asked_to(path: str) -> None:
    asked = next(one for one in ASKED if one.path == path)
    vector = {"object": "list", "data": [{"object": "embedding", "index": 0, "embedding": [1.0, 2.0]}], "model": MODEL}

    async def behave(call: EngineCall) -> None:
        call.whole(200, {**vector, "usage": {"prompt_tokens": 2, "total_tokens": 2}})

    async with gateway_over(behave if path == "/v1/embeddings" else saying("x"), caches=KEPT) as rig:
        first, again = await ask(rig.port, request(asked, "hello")), await ask(rig.port, request(asked, "hello"))
        assert (first.status, outcome(again)) == (200, "hit")
        assert {**again.json, "id": 0, "created": 0} == {**first.json, "id": 0, "created": 0}


async def test_tools_reasoning_choices_and_log_probabilities_come_back_in_a_stream() -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": '{"at":"x"}'}}
    logprobs = {"content": [{"token": "hi", "logprob": -0.1, "bytes": None, "top_logprobs": []}]}
    said = {"role": "assistant", "content": "hi", "reasoning_content": "hm " * 400, "tool_calls": [call]}
    whole = chat_answer() | {
        "choices": [
            {"index": 0, "message": said, "finish_reason": "tool_calls", "logprobs": logprobs},
            {"index": 1, "message": {"role": "assistant", "content": "two"}, "finish_reason": "stop"},
        ]
    }

    async def behave(engine_call: EngineCall) -> None:
        engine_call.whole(200, whole)

    async with gateway_over(behave, caches=KEPT) as rig:
        await ask(rig.port, same(n=2))
        again = await ask(rig.port, same(n=2, stream=True, stream_options={"include_usage": True}))
        events = [msgspec.json.decode(event) for event in again.events[:-1]]
        parts = [event["choices"][0] for event in events if event["choices"]]
        first = [part for part in parts if part["index"] == 0]
        assert "".join(part["delta"].get("reasoning_content", "") for part in first) == "hm " * 400
        assert [part["delta"]["tool_calls"] for part in first if "tool_calls" in part["delta"]] == [
            [{"index": 0, **call}]
        ]
        assert [part["logprobs"] for part in first if part["delta"].get("content")] == [logprobs]
        assert first[-1]["finish_reason"] == "tool_calls"
        assert "".join(part["delta"].get("content", "") for part in parts if part["index"] == 1) == "two"
        assert events[-1]["usage"] == whole["usage"]
        assert again.events[-1] == b"[DONE]"


async def test_tenants_never_share_an_answer() -> None:
    two = tenants(one=caller("acme/one"), two=caller("acme/two"), also=caller("acme/one"))
    async with gateway_over(stream(), caches=KEPT, tenants=two, waits_ready=False) as rig:
        await rig.wait(lambda: bool(rig.holds().replicas_takeable))
        outcomes = [outcome(await ask(rig.port, chat(bearer(who), temperature=0))) for who in ("one", "two", "also")]
        assert outcomes == ["miss", "miss", "hit"]


async def test_policies_say_whose_answers_are_kept() -> None:
    policies = {"theirs": CacheSettings(projects=("other/*",)), "small": CacheSettings(models=("small-*",))}
    async with gateway_over(stream(), caches=policies) as rig:
        assert "x-heterodyne-cache" not in (await ask(rig.port, same())).headers


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"temperature": 0.7},
        {"temperature": 0, "tools": [{"type": "function", "function": {"name": "f"}}, {"type": "web_search"}]},
        {
            "temperature": 0,
            "messages": [
                {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}]}
            ],
        },
    ],
)
async def test_what_may_be_answered_otherwise_another_time_is_asked_again(fields: dict[str, object]) -> None:
    async with gateway_over(stream(), caches=KEPT) as rig:
        for _ in range(2):
            assert "x-heterodyne-cache" not in (await ask(rig.port, chat(**fields))).headers


async def test_who_names_a_time_to_keep_has_a_drawn_answer_kept() -> None:
    wanted = "x-heterodyne-cache-ttl-s: 60"
    async with gateway_over(stream(), caches=KEPT) as rig:
        answers = [await ask(rig.port, chat(wanted)) for _ in range(2)]
        assert list(map(outcome, answers)) == ["miss", "hit"]
        assert (await ask(rig.port, chat("x-heterodyne-cache-ttl-s: soon"))).error["param"] == wanted.partition(":")[0]


async def test_the_headers_of_http_are_heeded() -> None:
    now_s = [1_000_000.0]
    async with gateway_over(stream(), caches=KEPT, wall_clock=lambda: now_s[0]) as rig:

        async def asked(control: str) -> Answer:
            return await ask(rig.port, chat(f"cache-control: {control}", temperature=0))

        only = await asked("only-if-cached")
        assert (only.status, only.error["code"]) == (504, "not_cached")
        assert outcome(await asked("max-age=60, no-transform")) == "miss"
        now_s[0] += 61
        assert (outcome(await asked("max-age=61")), outcome(await asked("only-if-cached"))) == ("hit", "hit")
        assert outcome(await asked("max-age=60")) == "miss"
        now_s[0] += 30
        assert (await asked("Max-Age=30")).headers["age"] == "30"
        assert outcome(await asked("no-cache")) == "miss"
        assert (await asked("max-age=0")).headers["age"] == "0"
        assert (await asked("max-age=soon")).error["param"] == "cache-control"
        calls = len(rig.engine.calls)
        for _ in range(2):
            await ask(rig.port, chat("cache-control: no-store", temperature=0, max_tokens=9))
        assert len(rig.engine.calls) == calls + 2


async def test_an_answer_holds_for_its_time() -> None:
    now_s = [1_000_000.0]
    async with gateway_over(stream(), caches={"short": CacheSettings(ttl_s=10)}, wall_clock=lambda: now_s[0]) as rig:
        outcomes = []
        for step_s in (0.0, 9.0, 1.0, 0.0):
            now_s[0] += step_s
            outcomes.append(outcome(await ask(rig.port, same())))
        assert outcomes == ["miss", "hit", "miss", "hit"]


async def test_what_was_not_asked_for_the_longest_gives_way() -> None:
    async with gateway_over(stream(), caches=KEPT, gateway={"cache_bytes_max": 2200}) as rig:
        asked = [await ask(rig.port, same(max_tokens=most)) for most in (1, 2, 1, 3, 1, 2)]
        assert list(map(outcome, asked)) == ["miss", "miss", "hit", "miss", "hit", "miss"]


async def broken(call: EngineCall) -> None:
    call.head(200, *EVENT_STREAM)
    call.event(chat_event("half"))
    call.write(b"0\r\n\r\n")


async def filtered(call: EngineCall) -> None:
    answer = chat_answer()
    answer["choices"][0]["finish_reason"] = "content_filter"  # type: ignore[index]
    call.whole(200, answer)


@pytest.mark.parametrize("is_stream", [False, True])
@pytest.mark.parametrize("behaviour", [refuse(500), refuse(400), broken, filtered])
async def test_only_a_whole_answer_is_kept(behaviour, is_stream: bool) -> None:
    async with gateway_over(behaviour, caches=KEPT, gateway={"continues_streams": False}) as rig:
        for _ in range(2):
            asked = len(rig.engine.calls)
            answer = await ask(rig.port, same(stream=is_stream))
            assert answer.headers.get("x-heterodyne-cache") == "miss"
            assert len(rig.engine.calls) > asked


async def test_a_model_that_answers_in_anothers_place_answers_for_now_only() -> None:
    away, other = refuse(503), stream(word="other")
    rule = {"fallbacks": ("other",)}
    async with gateway_over(away, caches=KEPT, model=rule, beside={"other": other}) as rig:
        for _ in range(2):
            answer = await ask(rig.port, same())
            assert (answer.headers["x-heterodyne-model"], outcome(answer)) == ("other", "miss")


async def test_a_hit_is_free_marked_and_counted(tmp_path) -> None:
    async with gateway_over(stream(), caches=KEPT, pool=PRICED, records=tmp_path / "records") as rig:
        for _ in range(2):
            await ask(rig.port, same(stream=True))
        first, again = await rig.wait_records(2)
        assert (first.cache, first.pool, first.saved_usd) == ("miss", "pool", None)
        assert (again.cache, again.pool, again.replica, again.usd) == ("hit", "cache", "", 0.0)
        assert again.saved_usd == pytest.approx(first.usd)
        assert (again.prompt_tokens, again.completion_tokens) == (7, 5)
        hits, saved = await metered(rig, "cache_answers_total", "hit"), await metered(rig, "cache_saved_usd_total")
        await ask(rig.port, same())
        assert await metered(rig, "cache_answers_total", "hit") == hits + 1
        assert await metered(rig, "cache_saved_usd_total") == pytest.approx(saved + again.saved_usd)
        assert await metered(rig, "cache_entries") == 1


async def metered(rig: Rig, name: str, outcome: str = "") -> float:
    page = (await ask(rig.port, get("/metrics"))).body.decode()
    lines = [line for line in page.splitlines() if line.startswith(f"heterodyne_gateway_{name}") and outcome in line]
    return sum(float(line.rpartition(" ")[2]) for line in lines)


async def test_a_body_with_no_room_for_a_look_up_is_asked_as_ever() -> None:
    async with gateway_over(stream(), caches=KEPT) as rig:
        long = [{"role": "user", "content": "word " * 20_000}]
        for _ in range(2):
            answer = await ask(rig.port, same(messages=long))
            assert (answer.status, "x-heterodyne-cache" in answer.headers) == (200, False)
