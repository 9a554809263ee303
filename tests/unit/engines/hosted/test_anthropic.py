"""OpenAI's chats in Anthropic's words, and its answers in OpenAI's."""

import json
from typing import Any

import pytest

from heterodyne.domain.errors import EngineGarbage, EngineOverloaded, InvalidField
from heterodyne.domain.fleet import PoolName, Replica, ReplicaId
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.engines.anthropic.dialect import AnthropicDialect
from heterodyne.ports.engine_request import EngineRequest

DIALECT = AnthropicDialect(wall_clock=lambda: 17.5)
REPLICA = Replica(
    id=ReplicaId("p-0"),
    pool=PoolName("p"),
    model="m",
    engine="anthropic",
    host="h",
    port=1,
    base_path="/base",
    engine_model="claude",
)
HELLO = [{"role": "user", "content": "Hello."}]
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOL = {"type": "function", "function": {"name": "weather", "description": "Of a city.", "parameters": SCHEMA}}
USAGE = {"input_tokens": 4, "output_tokens": 9, "cache_read_input_tokens": 16, "cache_creation_input_tokens": 2}


def request(messages: list[Any] | None = None, **fields: Any) -> Request:
    body = {"model": "m", "messages": messages or HELLO, **fields}
    return Request(
        id="r", operation=Operation.CHAT, model="m", body=json.dumps(body).encode(), stream=bool(fields.get("stream"))
    )


def called(messages: list[Any] | None = None, **fields: Any) -> EngineRequest:
    return DIALECT.call(request(messages, **fields), REPLICA)


def body(messages: list[Any] | None = None, **fields: Any) -> Any:
    return json.loads(called(messages, **fields).body)


def turns(*messages: Any) -> Any:
    return body(list(messages))["messages"]


def refused(messages: list[Any] | None = None, **fields: Any) -> str | None:
    with pytest.raises(InvalidField) as error:
        called(messages, **fields)
    assert error.value.param is not None
    assert error.value.message.startswith(error.value.param)
    return error.value.param


# Requests.


def test_a_chat_is_a_message_with_a_length() -> None:
    assert called().path == "/base/v1/messages"
    assert body() == {"model": "claude", "max_tokens": 4096, "messages": HELLO}
    assert body(max_tokens=5)["max_tokens"] == 5
    assert body(max_tokens=5, max_completion_tokens=7)["max_tokens"] == 7
    small = DIALECT.call(
        request(),
        Replica(**{name: getattr(REPLICA, name) for name in REPLICA.__struct_fields__} | {"context_tokens": 512}),
    )
    assert json.loads(small.body)["max_tokens"] == 512
    assert called().not_carried == ()


def test_the_system_speaks_apart() -> None:
    one = body([{"role": "system", "content": "Be brief."}, *HELLO])
    assert (one["system"], one["messages"]) == ("Be brief.", HELLO)
    parts = [{"type": "text", "text": "Be kind."}]
    two = body([{"role": "system", "content": "Be brief."}, *HELLO, {"role": "developer", "content": parts}])
    assert two["system"] == [{"type": "text", "text": "Be brief."}, {"type": "text", "text": "Be kind."}]
    assert two["messages"] == HELLO


def test_what_shapes_the_answer_is_told() -> None:
    said = body(temperature=0.5, top_p=0.9, top_k=5, stop="END", stream=True, user="u")
    assert (said["temperature"], said["top_p"], said["top_k"]) == (0.5, 0.9, 5)
    assert (said["stop_sequences"], said["stream"], said["metadata"]) == (["END"], True, {"user_id": "u"})
    assert body(stop=["a", "b"])["stop_sequences"] == ["a", "b"]
    assert body(safety_identifier="s", user="u")["metadata"] == {"user_id": "s"}


def test_pictures_and_documents_are_blocks() -> None:
    parts = [
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk=", "detail": "high"}},
        {"type": "image_url", "image_url": {"url": "https://example.org/a.jpg"}},
        {"type": "file", "file": {"file_data": "data:application/pdf;base64,aGk=", "filename": "a.pdf"}},
    ]
    assert turns({"role": "user", "content": parts})[0]["content"] == [
        {"type": "text", "text": "What is this?"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}},
        {"type": "image", "source": {"type": "url", "url": "https://example.org/a.jpg"}},
        {
            "type": "document",
            "source": {"type": "base64", "media_type": "application/pdf", "data": "aGk="},
            "title": "a.pdf",
        },
    ]
    assert called([{"role": "user", "content": parts}]).not_carried == ("messages.content.image_url.detail",)


def call(id_: str, arguments: str, name: str = "weather") -> dict[str, Any]:
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}


def test_calls_are_blocks_and_their_results_one_turn() -> None:
    found = turns(
        *HELLO,
        {"role": "assistant", "content": "", "tool_calls": [call("a", '{"city": "Graz"}'), call("b", "")]},
        {"role": "tool", "tool_call_id": "a", "content": "sunny"},
        {"role": "tool", "tool_call_id": "b", "content": [{"type": "text", "text": "rain"}]},
        {"role": "user", "content": "And tomorrow?"},
    )
    assert found[1:] == [
        {
            "role": "assistant",
            "content": [
                {"type": "tool_use", "id": "a", "name": "weather", "input": {"city": "Graz"}},
                {"type": "tool_use", "id": "b", "name": "weather", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": "sunny"},
                {"type": "tool_result", "tool_use_id": "b", "content": [{"type": "text", "text": "rain"}]},
            ],
        },
        {"role": "user", "content": "And tomorrow?"},
    ]


def test_thoughts_go_back_with_their_signature_and_never_without() -> None:
    thought = {"role": "assistant", "content": "Yes.", "reasoning_content": "Hm."}
    assert turns(*HELLO, thought)[1]["content"] == "Yes."
    assert called([*HELLO, thought]).not_carried == ("messages.reasoning_content",)
    signed = thought | {"reasoning_signature": "sig"}
    assert turns(*HELLO, signed)[1]["content"] == [
        {"type": "thinking", "thinking": "Hm.", "signature": "sig"},
        {"type": "text", "text": "Yes."},
    ]
    assert called([*HELLO, signed]).not_carried == ()


@pytest.mark.parametrize(
    ("choice", "told"),
    [
        ("auto", {"type": "auto"}),
        ("required", {"type": "any"}),
        ("none", {"type": "none"}),
        ({"type": "function", "function": {"name": "weather"}}, {"type": "tool", "name": "weather"}),
    ],
)
def test_tools_and_which_is_to_be_called(choice: Any, told: Any) -> None:
    said = body(tools=[TOOL], tool_choice=choice)
    assert said["tools"] == [{"name": "weather", "description": "Of a city.", "input_schema": SCHEMA}]
    assert said["tool_choice"] == told
    alone = body(tools=[TOOL], tool_choice=choice, parallel_tool_calls=False)["tool_choice"]
    assert alone == (told if choice == "none" else told | {"disable_parallel_tool_use": True})


def test_a_choice_without_tools_says_nothing() -> None:
    assert "tool_choice" not in body(tool_choice="auto", parallel_tool_calls=False)
    assert "tool_choice" not in body(tools=[TOOL])
    bare = body(tools=[{"type": "function", "function": {"name": "now", "strict": True}}])
    assert bare["tools"] == [{"name": "now", "strict": True, "input_schema": {"type": "object", "properties": {}}}]


def test_a_schema_and_an_effort_configure_the_output() -> None:
    schema = {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA, "strict": True}}
    said = body(response_format=schema, reasoning_effort="xhigh")
    assert said["output_config"] == {"effort": "xhigh", "format": {"type": "json_schema", "schema": SCHEMA}}
    assert said["thinking"] == {"type": "adaptive"}
    assert body(reasoning_effort="minimal")["output_config"] == {"effort": "low"}
    assert body(reasoning_effort="none")["thinking"] == {"type": "disabled"}
    assert "output_config" not in body(response_format={"type": "text"}, reasoning_effort="none")


def test_its_own_words_for_thinking_win() -> None:
    budget = {"type": "enabled", "budget_tokens": 2048}
    assert body(reasoning_effort="low", thinking=budget)["thinking"] == budget


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"logprobs": True}, "logprobs"),
        ({"top_logprobs": 3}, "top_logprobs"),
        ({"logit_bias": {"5": 1}}, "logit_bias"),
        ({"presence_penalty": 0.5}, "presence_penalty"),
        ({"frequency_penalty": -1}, "frequency_penalty"),
        ({"temperature": 1.5}, "temperature"),
        ({"functions": [{"name": "x"}]}, "functions"),
        ({"modalities": ["text", "audio"]}, "modalities"),
        ({"audio": {"voice": "alloy"}}, "audio"),
        ({"web_search_options": {"search_context_size": "low"}}, "web_search_options"),
        ({"response_format": {"type": "json_object"}}, "response_format.type"),
        ({"response_format": {"type": "json_schema", "json_schema": {"name": "x"}}}, "response_format.type"),
        ({"tools": [{"type": "custom", "custom": {"name": "x"}}]}, "tools[0].type"),
        ({"tools": [TOOL], "tool_choice": "sometimes"}, "tool_choice"),
        ({"tools": [TOOL], "tool_choice": {"type": "allowed_tools"}}, "tool_choice.type"),
        ({"reasoning_effort": "heroic"}, "reasoning_effort"),
        ({"reasoning_effort": 7}, "reasoning_effort"),
    ],
)
def test_what_would_change_the_answer_is_refused_by_its_path(fields: dict[str, Any], path: str) -> None:
    assert refused(**fields) == path


@pytest.mark.parametrize(
    ("message", "path"),
    [
        ({"role": "function", "name": "x", "content": "1"}, "messages[0].role"),
        ({"role": "assistant", "audio": {"id": "x"}}, "messages[0].audio"),
        ({"role": "assistant", "function_call": {"name": "x", "arguments": "{}"}}, "messages[0].function_call"),
        ({"role": "assistant", "tool_calls": [call("a", "[1]")]}, "messages[0].tool_calls[0].function.arguments"),
        ({"role": "assistant", "tool_calls": [call("a", "{")]}, "messages[0].tool_calls[0].function.arguments"),
        ({"role": "assistant", "tool_calls": [{"id": "a", "type": "custom"}]}, "messages[0].tool_calls[0].type"),
        ({"role": "user", "content": [{"type": "input_audio", "input_audio": {}}]}, "messages[0].content[0].type"),
        (
            {"role": "user", "content": [{"type": "file", "file": {"file_id": "f"}}]},
            "messages[0].content[0].file.file_data",
        ),
        (
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "file:///etc/passwd"}}]},
            "messages[0].content[0].image_url.url",
        ),
        (
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png,hi"}}]},
            "messages[0].content[0].image_url.url",
        ),
        (
            {"role": "system", "content": [{"type": "image_url", "image_url": {"url": "https://a"}}]},
            "messages[0].content[0].type",
        ),
    ],
)
def test_a_turn_that_cannot_be_told_is_refused_by_its_path(message: dict[str, Any], path: str) -> None:
    assert refused([message]) == path


def test_hints_are_left_out_and_named() -> None:
    lost = called(
        [{"role": "user", "name": "ann", "content": "Hello."}],
        seed=7,
        metadata={"a": "b"},
        store=True,
        service_tier="flex",
        prompt_cache_key="k",
        verbosity="low",
    )
    assert lost.not_carried == (
        "messages.name", "metadata", "prompt_cache_key", "seed", "service_tier", "verbosity",
    )  # fmt: skip
    assert set(json.loads(lost.body)) == {"model", "max_tokens", "messages"}
    nothing = called(
        seed=None, store=False, service_tier="auto", logprobs=False, n=1, presence_penalty=0, logit_bias={}
    )
    assert nothing.not_carried == ()


def test_what_a_schema_is_for_is_named() -> None:
    schema = {"name": "city", "schema": {"type": "object"}, "description": "Of a city."}
    lost = called(response_format={"type": "json_schema", "json_schema": schema})
    assert lost.not_carried == ("response_format.json_schema.description",)


def test_a_field_that_an_operator_opened_passes_as_it_came() -> None:
    assert body(cache_control={"type": "ephemeral"})["cache_control"] == {"type": "ephemeral"}


def test_the_key_and_the_version_are_lines_of_the_head() -> None:
    assert DIALECT.header_lines("k") == b"x-api-key: k\r\nanthropic-version: 2023-06-01\r\n"
    assert DIALECT.header_lines("") == b"anthropic-version: 2023-06-01\r\n"


# Whole answers.


def answered(content: list[Any], stop_reason: str = "end_turn", **more: Any) -> Any:
    said = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-1",
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": USAGE,
    } | more
    whole = DIALECT.answer(request(), REPLICA, json.dumps(said).encode())
    assert isinstance(whole, bytes)
    return json.loads(whole)


def test_a_message_is_an_answer() -> None:
    assert answered([{"type": "text", "text": "Hello "}, {"type": "text", "text": "there."}]) == {
        "id": "msg_1",
        "object": "chat.completion",
        "created": 17,
        "model": "claude-1",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "Hello there.", "refusal": None},
                "logprobs": None,
                "finish_reason": "stop",
            }
        ],
        "usage": {
            "prompt_tokens": 22,
            "completion_tokens": 9,
            "total_tokens": 31,
            "prompt_tokens_details": {"cached_tokens": 16, "cache_write_tokens": 2},
        },
    }


def test_thoughts_and_calls_are_told() -> None:
    blocks = [
        {"type": "thinking", "thinking": "Hm.", "signature": "sig"},
        {"type": "tool_use", "id": "a", "name": "weather", "input": {"city": "Graz"}},
        {"type": "tool_use", "id": "b", "name": "now", "input": {}},
    ]
    details = {"output_tokens_details": {"thinking_tokens": 5}}
    found = answered(blocks, "tool_use", usage=USAGE | details)
    [choice] = found["choices"]
    message = choice["message"]
    assert (message["content"], message["reasoning_content"], message["reasoning_signature"]) == (None, "Hm.", "sig")
    assert [(one["id"], one["function"]["name"]) for one in message["tool_calls"]] == [("a", "weather"), ("b", "now")]
    assert [json.loads(one["function"]["arguments"]) for one in message["tool_calls"]] == [{"city": "Graz"}, {}]
    assert choice["finish_reason"] == "tool_calls"
    assert found["usage"]["completion_tokens_details"] == {"reasoning_tokens": 5}
    back = turns(*HELLO, message)
    assert back[1]["content"] == blocks


@pytest.mark.parametrize(
    ("stop_reason", "finish_reason"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "content_filter"),
        ("pause_turn", "stop"),
        ("something_new", "stop"),
    ],
)
def test_why_it_ended(stop_reason: str, finish_reason: str) -> None:
    assert answered([], stop_reason)["choices"][0]["finish_reason"] == finish_reason


def test_the_text_that_ended_it_is_named() -> None:
    assert answered([], "stop_sequence", stop_sequence="END")["choices"][0]["stop_reason"] == "END"


@pytest.mark.parametrize("garbage", [b"", b"{}", b"[]", b"<html>", b'{"id": 7}', b'{"id":"a","content":[{}]}'])
def test_what_is_no_message_is_garbage(garbage: bytes) -> None:
    with pytest.raises(EngineGarbage):
        DIALECT.answer(request(), REPLICA, garbage)


# Streams.


def streamed(*events: Any) -> list[Any]:
    edit = DIALECT.stream_edit(request(stream=True))
    assert edit is not None
    found = [one for event in events for one in edit(json.dumps(event).encode())]
    return [one if one == b"[DONE]" else json.loads(one) for one in found]


START = {
    "type": "message_start",
    "message": {"id": "msg_1", "model": "claude-1", "content": [], "usage": {"input_tokens": 4, "output_tokens": 1}},
}
STOP = {"type": "message_stop"}


def begin(index: int, **block: Any) -> Any:
    return {"type": "content_block_start", "index": index, "content_block": block}


def grow(index: int, type_: str, **delta: Any) -> Any:
    return {"type": "content_block_delta", "index": index, "delta": {"type": type_, **delta}}


def end(index: int) -> Any:
    return {"type": "content_block_stop", "index": index}


def finish(stop_reason: str, **usage: Any) -> Any:
    return {"type": "message_delta", "delta": {"stop_reason": stop_reason, "stop_sequence": None}, "usage": usage}


def deltas(found: list[Any]) -> list[Any]:
    return [choice["delta"] for one in found if one != b"[DONE]" for choice in one["choices"]]


def test_a_stream_begins_with_its_first_words_and_ends_with_its_count() -> None:
    found = streamed(
        START,
        {"type": "ping"},
        begin(0, type="text", text=""),
        grow(0, "text_delta", text="Hello"),
        grow(0, "text_delta", text=" there."),
        end(0),
        finish("end_turn", output_tokens=9, cache_read_input_tokens=16),
        STOP,
    )
    assert deltas(found) == [{"role": "assistant", "content": ""}, {"content": "Hello"}, {"content": " there."}, {}]
    assert {one["id"] for one in found[:-1]} == {"msg_1"}
    assert {(one["object"], one["created"], one["model"]) for one in found[:-1]} == {
        ("chat.completion.chunk", 17, "claude-1")
    }
    assert found[-3]["choices"][0]["finish_reason"] == "stop"
    assert (found[-2]["choices"], found[-2]["usage"]) == (
        [],
        {
            "prompt_tokens": 20,
            "completion_tokens": 9,
            "total_tokens": 29,
            "prompt_tokens_details": {"cached_tokens": 16},
        },
    )
    assert found[-1] == b"[DONE]"
    assert streamed(START, {"type": "ping"}, begin(0, type="text", text="")) == []


def test_calls_in_a_stream_have_their_places_among_calls() -> None:
    found = streamed(
        START,
        begin(0, type="thinking", thinking="", signature=""),
        grow(0, "thinking_delta", thinking="Hm."),
        grow(0, "signature_delta", signature="sig"),
        end(0),
        begin(1, type="tool_use", id="a", name="weather", input={}),
        grow(1, "input_json_delta", partial_json=""),
        grow(1, "input_json_delta", partial_json='{"city": '),
        grow(1, "input_json_delta", partial_json='"Graz"}'),
        end(1),
        begin(2, type="tool_use", id="b", name="now", input={}),
        end(2),
        finish("tool_use", output_tokens=9),
        STOP,
    )
    said = deltas(found)
    assert said[1] == {"reasoning_content": "Hm."}
    assert [one["tool_calls"][0] for one in said if "tool_calls" in one] == [
        {"index": 0, "id": "a", "type": "function", "function": {"name": "weather", "arguments": ""}},
        {"index": 0, "function": {"arguments": '{"city": '}},
        {"index": 0, "function": {"arguments": '"Graz"}'}},
        {"index": 1, "id": "b", "type": "function", "function": {"name": "now", "arguments": ""}},
        {"index": 1, "function": {"arguments": "{}"}},
    ]
    assert {"reasoning_signature": "sig"} in said
    assert found[-3]["choices"][0]["finish_reason"] == "tool_calls"


def test_an_error_in_a_stream_is_one_that_the_relay_sees() -> None:
    [found] = streamed({"type": "error", "error": {"type": "api_error", "message": "Internal server error"}})
    assert found["error"]["code"] == "api_error"
    assert found["error"]["message"] == "Internal server error"


@pytest.mark.parametrize("kind", ["overloaded_error", "rate_limit_error"])
def test_an_overload_in_a_stream_is_no_fault_of_the_engine(kind: str) -> None:
    with pytest.raises(EngineOverloaded):
        streamed({"type": "error", "error": {"type": kind, "message": "Overloaded"}})


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b"{}", b'{"type":"content_block_delta","delta":7}', b"[DONE]"])
def test_an_event_that_is_none_is_garbage(data: bytes) -> None:
    edit = DIALECT.stream_edit(request(stream=True))
    assert edit is not None
    with pytest.raises(EngineGarbage):
        edit(data)


def test_arguments_of_no_call_are_garbage() -> None:
    with pytest.raises(EngineGarbage):
        streamed(START, grow(3, "input_json_delta", partial_json="{"))


# Refusals; most of them are pages of the contract.


def test_an_overload_says_when_to_come_back() -> None:
    error = DIALECT.refusal(request(), 529, b'{"type":"error","error":{"type":"overloaded_error","message":"x"}}')
    assert isinstance(error, EngineOverloaded)
    assert error.retry_after_s == 1
