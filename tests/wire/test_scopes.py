"""What a key may not ask for, it does not get: where the request says so, and where it says nothing."""

import msgspec
import pytest

from heterodyne.domain.tenant import Limits, Scopes
from heterodyne.domain.urgency import Tier
from heterodyne.testing import behaviours
from tests.support.gateways import gateway_over
from tests.support.raw_client import ask
from tests.support.requests import MODEL, chat, post
from tests.support.tenants import bearer, caller, tenants

KEY = bearer("key")


async def test_an_answer_without_a_length_is_bounded_by_the_shortest_that_the_scopes_allow() -> None:
    scopes = (Scopes(output_tokens_max=50), Scopes(output_tokens_max=20))
    async with gateway_over(behaviours.answer(), tenants=tenants(key=caller(scopes=scopes))) as rig:
        assert (await ask(rig.port, chat(KEY))).status == 200
        assert rig.engine.calls[-1].json["max_tokens"] == 20
        assert rig.engine.calls[-1].json["messages"]
        assert (await ask(rig.port, chat(KEY, max_tokens=20))).status == 200
        refused = await ask(rig.port, chat(KEY, max_tokens=21))
        assert (refused.status, refused.error["code"], refused.error["param"]) == (403, "not_allowed", "max_tokens")
        assert len(rig.engine.calls) == 2


async def test_a_key_of_one_region_is_answered_there_or_not_at_all() -> None:
    callers = tenants(
        key=caller(scopes=(Scopes(regions=("eu",)),)), other=caller("acme/us", scopes=(Scopes(regions=("us",)),))
    )
    async with gateway_over(behaviours.answer(), tenants=callers, pool={"region": "eu"}) as rig:
        assert (await ask(rig.port, chat(KEY))).status == 200
        refused = await ask(rig.port, chat(bearer("other")))
        assert (refused.status, refused.error["code"]) == (503, "engine_unavailable")
        assert "in the regions of this key (us)" in refused.error["message"]
        assert len(rig.engine.calls) == 1


async def test_a_tier_may_be_given_shorter_contexts_than_others() -> None:
    callers = tenants(key=caller(tier=Tier.BRONZE), other=caller("acme/gold", tier=Tier.GOLD))
    admission = {"context_tokens_by_tier": {"bronze": 50}}
    async with gateway_over(behaviours.answer(), tenants=callers, admission=admission) as rig:
        assert (await ask(rig.port, chat(KEY, max_tokens=10))).status == 200
        refused = await ask(rig.port, chat(KEY, max_tokens=100))
        assert (refused.status, refused.error["code"]) == (403, "not_allowed")
        assert "at most 50 tokens of context" in refused.error["message"]
        assert (await ask(rig.port, chat(bearer("other"), max_tokens=100))).status == 200


def complete(**fields: object) -> bytes:
    return post("/v1/completions", msgspec.json.encode({"model": MODEL, "prompt": "hi", **fields}), KEY)


SHORT = tenants(key=caller(scopes=(Scopes(output_tokens_max=5),)))
LONGER = [
    chat(KEY, n_predict=30),
    chat(KEY, max_tokens=1, n_predict=30),
    chat(KEY, max_tokens=1, max_completion_tokens=30),
    chat(KEY, n=4, max_tokens=5),
    complete(prompt=["hi"] * 8, max_tokens=5),
    complete(prompt=[[1, 2], [3]], max_tokens=5),
    complete(best_of=4, max_tokens=5),
    complete(best_of=2, n=2, prompt=["hi"] * 2, max_tokens=2),
    chat(KEY, n=6),
    complete(prompt=["hi"] * 6),
]


@pytest.mark.parametrize("request_", LONGER)
async def test_no_name_for_a_length_and_no_number_of_answers_gets_more_than_the_scopes_allow(request_: bytes) -> None:
    async with gateway_over(behaviours.answer(), tenants=SHORT, pool={"engine": "llamacpp"}) as rig:
        answer = await ask(rig.port, request_)
        assert (answer.status, answer.error["code"]) == (403, "not_allowed")
        assert not rig.engine.calls


async def test_what_the_scopes_allow_is_shared_out_among_answers_that_name_no_length() -> None:
    callers = tenants(key=caller(scopes=(Scopes(output_tokens_max=20),)))
    async with gateway_over(behaviours.answer(), tenants=callers) as rig:
        for request, each in (
            (chat(KEY, n=3), 6),
            (complete(prompt=["a", "b"], n=2), 5),
            (complete(prompt=[1, 2]), 20),
        ):
            assert (await ask(rig.port, request)).status == 200
            assert rig.engine.calls[-1].json["max_tokens"] == each


TEXT = "some words that say nothing " * 80  # about 500 tokens
SHOWN = [
    {"tools": [{"type": "function", "function": {"name": "f", "description": TEXT}}]},
    {"functions": [{"name": "f", "description": TEXT}]},
    {"response_format": {"type": "json_schema", "json_schema": {"name": "s", "schema": {"description": TEXT}}}},
    {"prediction": {"type": "content", "content": TEXT}},
    {"messages": [{"role": "user", "content": "hi", "name": "n" * 500}] * 4},
    {"messages": [{"role": "user", "content": [{"type": "text", "text": TEXT}]}]},
    {"messages": [{"role": "user", "content": "hi", "Content": TEXT}]},
    {"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "x", "reasoning_content": TEXT}]},
    {
        "messages": [
            {"role": "user", "content": "hi"},
            {
                "role": "assistant",
                "tool_calls": [{"id": "1", "type": "f", "function": {"name": "f", "arguments": TEXT}}],
            },
        ]
    },
    {"guided_json": {"description": TEXT}},
    {"structured_outputs": {"grammar": TEXT}},
    {"documents": [{"text": TEXT}]},
]


@pytest.mark.parametrize("fields", SHOWN, ids=lambda fields: next(iter(fields)))
async def test_all_text_that_a_model_may_be_shown_counts_as_its_context(fields: dict[str, object]) -> None:
    callers = tenants(key=caller(scopes=(Scopes(context_tokens_max=60),)))
    async with gateway_over(behaviours.answer(), tenants=callers, pool={"engine": "vllm"}) as rig:
        assert (await ask(rig.port, chat(KEY))).status == 200
        answer = await ask(rig.port, chat(KEY, **fields))
        assert (answer.status, answer.error["code"]) == (403, "not_allowed")
        assert "at most 60 tokens of context" in answer.error["message"]
        assert len(rig.engine.calls) == 1


async def test_a_picture_is_not_taken_for_as_much_text_as_its_data_has() -> None:
    callers = tenants(key=caller(scopes=(Scopes(context_tokens_max=2000),)))
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 200_000}}
    content = [{"type": "text", "text": "what is this?"}, picture]
    async with gateway_over(behaviours.answer(), tenants=callers) as rig:
        asked = chat(KEY, messages=[{"role": "user", "content": content}], max_tokens=10)
        assert (await ask(rig.port, asked)).status == 200
        hidden = [{**picture, "type": "text", "text": "hi"}]
        asked = chat(KEY, messages=[{"role": "user", "content": hidden}], max_tokens=10)
        assert (await ask(rig.port, asked)).status == 403


async def test_a_context_bounds_answers_that_name_no_length() -> None:
    callers = tenants(key=caller(scopes=(Scopes(context_tokens_max=100),)))
    async with gateway_over(behaviours.answer(), tenants=callers) as rig:
        assert (await ask(rig.port, chat(KEY))).status == 200
        assert 50 < rig.engine.calls[-1].json["max_tokens"] < 100


async def test_everything_that_multiplies_is_multiplied_in_what_a_request_reserves() -> None:
    callers = tenants(key=caller(limits=Limits(tokens_per_minute=1000)))
    async with gateway_over(behaviours.answer(), tenants=callers) as rig:
        for request in (
            chat(KEY, n=12, max_tokens=100),
            complete(prompt=["hi"] * 12, max_tokens=100),
            complete(best_of=12, max_tokens=100),
        ):
            answer = await ask(rig.port, request)
            assert (answer.status, answer.error["code"]) == (429, "rate_limit_exceeded")
            assert "may need 12" in answer.error["message"]
        assert not rig.engine.calls


@pytest.mark.parametrize(
    ("request_", "param"),
    [
        (complete(best_of=20), "best_of"),
        (chat(KEY, n=17), "n"),
        (complete(prompt=["hi"] * 129), "prompt"),
        (complete(prompt=["hi"] * 9, n=16), "prompt"),
    ],
)
async def test_choices_of_whatever_kind_are_bounded(request_: bytes, param: str) -> None:
    async with gateway_over(behaviours.answer(), tenants=tenants(key=caller())) as rig:
        answer = await ask(rig.port, request_)
        assert (answer.status, answer.error["param"]) == (400, param)
        assert (await ask(rig.port, complete(prompt=["hi"] * 8, n=16))).status == 200
