"""Fields of one engine's own: its dialect lists those that a client may send, an operator opens others."""

import msgspec
import pytest

from heterodyne.engines.catalogue import ENGINES
from heterodyne.gateway.dialects.members import PRIVATE_KEYS_MAX, PRIVATE_MAX
from heterodyne.testing import behaviours
from tests.support.gateways import gateway_over
from tests.support.raw_client import ask, connected
from tests.support.requests import CHAT, MODEL, chat, post

COMPLETION = {"model": MODEL, "prompt": "hi"}
EMBEDDING = {"model": MODEL, "input": "hi"}
TOKENIZE = {"model": MODEL, "messages": CHAT["messages"]}
OPENAI_CHAT = {
    "metadata": {"a": "b"},
    "store": False,
    "reasoning_effort": "low",
    "service_tier": "auto",
    "prediction": {"type": "content", "content": "hello"},
    "web_search_options": {},
    "prompt_cache_key": "k",
    "safety_identifier": "s",
    "verbosity": "low",
    "modalities": ["text"],
    "functions": [{"name": "f"}],
    "function_call": "none",
}
ADDRESSES = [
    ({"kv_transfer_params": {"remote_host": "10.0.0.1", "remote_port": 1}}, "kv_transfer_params.remote_host"),
    ({"bootstrap_host": "10.0.0.1"}, "bootstrap_host"),
    ({"priority": -1}, "priority"),
    ({"lora_path": "/etc/passwd"}, "lora_path"),
    ({"chat_template": "{{ x }}"}, "chat_template"),
    ({"chat_template_kwargs": {"chat_template": "{{ x }}"}}, "chat_template_kwargs.chat_template"),
    ({"chat_template_kwargs": {"tokenize": True}}, "chat_template_kwargs.tokenize"),
    ({"chat_template_kwargs": {f"k{n}": n for n in range(100)}}, "chat_template_kwargs"),
    ({"custom_logit_processor": "code"}, "custom_logit_processor"),
    ({"id_slot": 0}, "id_slot"),
    ({"Max_Tokens": 100_000}, "Max_Tokens"),
    ({"options": {"num_predict": 100_000}}, "options.num_predict"),
    ({"parameters": {"max_new_tokens": 100_000}}, "parameters.max_new_tokens"),
]


# Of the others one has no text, one no chat, and one a health page that the scripted engine does not write.
@pytest.mark.parametrize("engine", sorted(ENGINES.keys() - {"open_inference", "jetstream", "lmdeploy"}))
async def test_a_client_cannot_name_an_address_or_any_other_field_that_the_engines_dialect_does_not_list(
    engine: str,
) -> None:
    async with gateway_over(behaviours.answer(), pool={"engine": engine}) as rig:
        for fields, path in ADDRESSES:
            answer = await ask(rig.port, chat(**fields))
            assert (answer.status, answer.error["code"], answer.error["param"]) == (400, "invalid_value", path)
            assert answer.error["message"].startswith(f"{path}: ")
            assert "allow_fields" in answer.error["message"]
        assert not rig.engine.calls


@pytest.mark.parametrize(
    ("path", "body"),
    [("/v1/completions", COMPLETION), ("/v1/embeddings", EMBEDDING), ("/tokenize", TOKENIZE)],
)
async def test_no_operation_lets_them_pass(path: str, body: dict[str, object]) -> None:
    async with gateway_over(behaviours.answer(), pool={"engine": "vllm"}) as rig:
        answer = await ask(rig.port, post(path, msgspec.json.encode({**body, "chat_template": "x"})))
        assert (answer.status, answer.error["param"]) == (400, "chat_template")
        assert not rig.engine.calls


async def test_tensors_have_parameters_of_their_own_that_pass_only_when_opened() -> None:
    tensor = {"name": "x", "shape": [1], "datatype": "FP32", "data": [1], "parameters": {"content_type": "np"}}
    body = {"inputs": [tensor], "parameters": {"priority": 1}}
    request = post(f"/v2/models/{MODEL}/infer", msgspec.json.encode(body))
    pool = {"engine": "open_inference"}
    async with gateway_over(behaviours.answer(), pool=pool) as rig:
        answer = await ask(rig.port, request)
        assert (answer.status, answer.json["error"][:20]) == (400, "parameters.priority:")
        fine = msgspec.json.encode({"inputs": [tensor]})
        assert (await ask(rig.port, post(f"/v2/models/{MODEL}/infer", fine))).status == 200
    async with gateway_over(behaviours.answer(), pool={**pool, "allow_fields": ("parameters",)}) as rig:
        assert (await ask(rig.port, request)).status == 200


async def test_everything_that_openai_describes_passes_and_so_do_fields_that_shape_the_clients_own_answer() -> None:
    async with gateway_over(behaviours.answer(), pool={"engine": "vllm"}) as rig:
        fields = {**OPENAI_CHAT, "top_k": 5, "min_p": 0.1, "guided_json": {"type": "object"}, "ignore_eos": True}
        assert (await ask(rig.port, chat(**fields, chat_template_kwargs={"enable_thinking": False}))).status == 200
        assert rig.engine.calls[-1].json["guided_json"] == {"type": "object"}


async def test_an_operator_opens_a_field_for_a_pool_by_its_path() -> None:
    pool = {"engine": "vllm", "allow_fields": ("priority", "kv_transfer_params.remote_host")}
    async with gateway_over(behaviours.answer(), pool=pool) as rig:
        assert (await ask(rig.port, chat(priority=3, kv_transfer_params={"remote_host": "a"}))).status == 200
        assert rig.engine.calls[-1].json["priority"] == 3
        other = await ask(rig.port, chat(kv_transfer_params={"remote_host": "a", "remote_port": 1}))
        assert (other.status, other.error["param"]) == (400, "kv_transfer_params.remote_port")


PICTURE = "data:image/png;base64,AAAA"
PARTS = [
    ({"type": "image_url", "image_url": {"url": PICTURE, "content_hash": "a" * 64}}, "image_url.content_hash"),
    ({"type": "image_url", "image_url": {"url": "file:///etc/passwd"}}, "image_url.url"),
    ({"type": "image_url", "image_url": {"url": 7}}, "image_url.url"),
    ({"type": "image_url", "image_url": "/etc/passwd"}, "image_url"),
    ({"type": "image_url", "image_url": None, "uuid": "theirs"}, "image_url"),
    ({"type": "image_url", "image_url": {"url": PICTURE}, "uuid": "theirs"}, "uuid"),
    ({"type": "image_url", "image_url": [PICTURE]}, "image_url"),
    ({"type": "image_embeds", "image_embeds": "AAAA"}, "image_embeds"),
]


@pytest.mark.parametrize(("part", "path"), PARTS)
@pytest.mark.parametrize("target", ["/v1/chat/completions", "/tokenize"])
async def test_parts_of_messages_name_no_file_and_nothing_in_an_engines_cache(
    part: dict[str, object], path: str, target: str
) -> None:
    body = msgspec.json.encode({"model": MODEL, "messages": [{"role": "user", "content": [part]}]})
    async with gateway_over(behaviours.answer(), pool={"engine": "vllm"}) as rig:
        answer = await ask(rig.port, post(target, body))
        assert (answer.status, answer.error["param"]) == (400, f"messages.content.{path}")
        assert not rig.engine.calls
    async with gateway_over(behaviours.answer(), pool={"engine": "vllm", "allow_fields": ("messages.content",)}) as rig:
        assert (await ask(rig.port, post(target, body))).status == 200


async def test_pictures_and_sounds_as_openai_describes_them_pass() -> None:
    content = [
        {"type": "text", "text": "what is this?"},
        {"type": "image_url", "image_url": {"url": PICTURE, "detail": "low"}},
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
        {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
        {"type": "file", "file": {"file_id": "f"}},
    ]
    async with gateway_over(behaviours.answer()) as rig:
        assert (await ask(rig.port, chat(messages=[{"role": "user", "content": content}]))).status == 200


TWICE = [
    (b'{"model":"scripted","max_tokens":1,"messages":[{"role":"user","content":"hi"}],"max_tokens":9}', "max_tokens"),
    (b'{ "max_tokens" : 9, "max_tokens" : 1, "model":"scripted","messages":[{"role":"user","content":"hi"}]}', None),
    (b'{"model":"scripted","max_\\u0074okens":9,"messages":[{"role":"user","content":"hi"}]}', "max_tokens"),
    (b'{"model":"scripted","n":4,"messages":[{"role":"user","content":"hi"}],"\\u006e":1}', "n"),
    (b'{"model":"scripted","prio\\u0072ity":9,"messages":[{"role":"user","content":"hi"}]}', "priority"),
]


@pytest.mark.parametrize(("body", "param"), TWICE)
async def test_a_field_named_twice_or_with_escapes_is_refused_since_engines_may_read_the_other(
    body: bytes, param: str | None
) -> None:
    async with gateway_over(behaviours.answer()) as rig:
        answer = await ask(rig.port, post("/v1/chat/completions", body))
        assert (answer.status, answer.error["code"]) == (400, "invalid_value")
        assert "named twice or with escapes" in answer.error["message"]
        assert answer.error["param"] == (param or "max_tokens")
        assert not rig.engine.calls


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/completions", b'{"model":"scripted","prompt":"a","prompt":"b"}'),
        ("/v1/embeddings", b'{"model":"scripted","input":"a", "input":["b","c"]}'),
        ("/tokenize", b'{"prompt":"a","model":"scripted","prompt":"b"}'),
        ("/detokenize", b'{"tokens":[1],"model":"scripted","tokens":[2]}'),
    ],
)
async def test_no_operation_takes_a_field_twice(path: str, body: bytes) -> None:
    async with gateway_over(behaviours.answer()) as rig:
        answer = await ask(rig.port, post(path, body))
        assert (answer.status, answer.error["code"]) == (400, "invalid_value")
        assert "named twice" in answer.error["message"]
        assert not rig.engine.calls


async def test_very_many_fields_of_nobodys_are_refused_without_a_look_at_each() -> None:
    many = {f"field_{number}": number for number in range(PRIVATE_MAX + 1)}
    nested = {f"key_{number}": number for number in range(PRIVATE_KEYS_MAX + 1)}
    async with gateway_over(behaviours.answer()) as rig, connected(rig.port) as client:
        refused = await client.ask(chat(**many))
        assert refused.status == 400
        assert str(PRIVATE_MAX) in refused.error["message"]
        assert (await client.ask(chat(chat_template_kwargs=nested))).error["param"] == "chat_template_kwargs"
        assert rig.engine.calls == []
