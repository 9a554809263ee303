"""OpenAI's chats and embeddings in Gemini's words, and its answers in OpenAI's."""

import json
from base64 import b64decode
from struct import unpack
from typing import Any

import pytest

from heterodyne.domain.errors import EngineGarbage, EngineOverloaded, EngineRefused, InvalidField
from heterodyne.domain.fleet import PoolName, Replica, ReplicaId
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.engines.gemini.answer import GeneratedUsage, usage_of
from heterodyne.engines.gemini.dialect import GeminiDialect
from heterodyne.ports.engine_request import EngineRequest

DIALECT = GeminiDialect(wall_clock=lambda: 17.5)
REPLICA = Replica(
    id=ReplicaId("p-0"), pool=PoolName("p"), model="m", engine="gemini", host="h", port=1, base_path="/base"
)
HELLO = [{"role": "user", "content": "Hello."}]
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOL = {"type": "function", "function": {"name": "weather", "description": "Of a city.", "parameters": SCHEMA}}
USAGE = {"promptTokenCount": 20, "candidatesTokenCount": 6, "thoughtsTokenCount": 3, "cachedContentTokenCount": 16}


def request(messages: list[Any] | None = None, **fields: Any) -> Request:
    body = {"model": "m", "messages": messages or HELLO, **fields}
    return Request(
        id="r",
        operation=Operation.CHAT,
        model="m",
        body=json.dumps(body).encode(),
        stream=bool(fields.get("stream")),
        choices=fields.get("n") or 1,
    )


def called(messages: list[Any] | None = None, **fields: Any) -> EngineRequest:
    return DIALECT.call(request(messages, **fields), REPLICA)


def body(messages: list[Any] | None = None, **fields: Any) -> Any:
    return json.loads(called(messages, **fields).body)


def config(**fields: Any) -> Any:
    return body(**fields).get("generationConfig")


def refused(messages: list[Any] | None = None, **fields: Any) -> str | None:
    with pytest.raises(InvalidField) as error:
        called(messages, **fields)
    assert error.value.param is not None
    assert error.value.message.startswith(error.value.param)
    return error.value.param


# Requests.


def test_a_chat_is_contents_and_the_model_is_in_the_path() -> None:
    assert called().path == "/base/v1beta/models/m:generateContent"
    assert called(stream=True).path == "/base/v1beta/models/m:streamGenerateContent?alt=sse"
    assert body() == {"contents": [{"role": "user", "parts": [{"text": "Hello."}]}]}
    assert called().not_carried == ()


def test_the_system_speaks_apart() -> None:
    said = body([{"role": "system", "content": "Be brief."}, *HELLO, {"role": "developer", "content": "Be kind."}])
    assert said["systemInstruction"] == {"parts": [{"text": "Be brief."}, {"text": "Be kind."}]}
    assert len(said["contents"]) == 1


def test_what_shapes_the_answer_is_told() -> None:
    fields: dict[str, Any] = {"temperature": 1.5, "top_p": 0.9, "top_k": 5, "seed": 7, "n": 2, "max_tokens": 9}
    assert config(**fields, stop="END", presence_penalty=0.5, frequency_penalty=-0.5) == {
        "temperature": 1.5,
        "topP": 0.9,
        "topK": 5,
        "seed": 7,
        "candidateCount": 2,
        "maxOutputTokens": 9,
        "stopSequences": ["END"],
        "presencePenalty": 0.5,
        "frequencyPenalty": -0.5,
    }
    assert config(temperature=None, seed=None) is None


def test_pictures_sounds_and_documents_are_parts() -> None:
    parts = [
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk=", "detail": "low"}},
        {"type": "image_url", "image_url": {"url": "https://example.org/a.jpg?x=1"}},
        {"type": "image_url", "image_url": {"url": "https://example.org/picture"}},
        {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "mp3"}},
        {"type": "file", "file": {"file_data": "data:application/pdf;base64,aGk="}},
    ]
    found = called([{"role": "user", "content": parts}])
    assert json.loads(found.body)["contents"][0]["parts"] == [
        {"text": "What is this?"},
        {"inlineData": {"mimeType": "image/png", "data": "aGk="}},
        {"fileData": {"fileUri": "https://example.org/a.jpg?x=1", "mimeType": "image/jpeg"}},
        {"fileData": {"fileUri": "https://example.org/picture"}},
        {"inlineData": {"mimeType": "audio/mp3", "data": "aGk="}},
        {"inlineData": {"mimeType": "application/pdf", "data": "aGk="}},
    ]
    assert found.not_carried == ("messages.content.image_url.detail",)


def call(id_: str, arguments: str, name: str = "weather", **more: Any) -> dict[str, Any]:
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}, **more}


def test_calls_are_parts_and_their_results_one_turn() -> None:
    signed: Any = {"extra_content": {"google": {"thought_signature": "c2ln"}}}
    found = body(
        [
            *HELLO,
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [call("a", '{"city": "Graz"}', **signed), call("b", "", "now")],
            },
            {"role": "tool", "tool_call_id": "a", "content": '{"sky": "blue"}'},
            {"role": "tool", "tool_call_id": "b", "content": "noon"},
            {"role": "user", "content": "And tomorrow?"},
        ]
    )["contents"]
    assert found[1:] == [
        {
            "role": "model",
            "parts": [
                {"functionCall": {"id": "a", "name": "weather", "args": {"city": "Graz"}}, "thoughtSignature": "c2ln"},
                {"functionCall": {"id": "b", "name": "now", "args": {}}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"id": "a", "name": "weather", "response": {"sky": "blue"}}},
                {"functionResponse": {"id": "b", "name": "now", "response": {"output": "noon"}}},
            ],
        },
        {"role": "user", "parts": [{"text": "And tomorrow?"}]},
    ]


def test_thoughts_do_not_go_back_and_that_is_said() -> None:
    found = called([*HELLO, {"role": "assistant", "content": "Yes.", "reasoning_content": "Hm."}])
    assert json.loads(found.body)["contents"][1] == {"role": "model", "parts": [{"text": "Yes."}]}
    assert found.not_carried == ("messages.reasoning_content",)


@pytest.mark.parametrize(
    ("choice", "told"),
    [
        ("auto", {"mode": "AUTO"}),
        ("required", {"mode": "ANY"}),
        ("none", {"mode": "NONE"}),
        ({"type": "function", "function": {"name": "weather"}}, {"mode": "ANY", "allowedFunctionNames": ["weather"]}),
    ],
)
def test_tools_and_which_is_to_be_called(choice: Any, told: Any) -> None:
    said = body(tools=[TOOL], tool_choice=choice)
    declared = {"name": "weather", "description": "Of a city.", "parametersJsonSchema": SCHEMA}
    assert said["tools"] == [{"functionDeclarations": [declared]}]
    assert said["toolConfig"] == {"functionCallingConfig": told}
    assert "toolConfig" not in body(tool_choice=choice)


def test_a_schema_is_told() -> None:
    schema = {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA}}
    assert config(response_format=schema) == {"responseMimeType": "application/json", "responseJsonSchema": SCHEMA}
    assert config(response_format={"type": "json_object"}) == {"responseMimeType": "application/json"}
    assert config(response_format={"type": "text"}) is None


def test_an_effort_is_a_level_or_for_older_models_a_budget() -> None:
    assert config(reasoning_effort="high") == {"thinkingConfig": {"thinkingLevel": "HIGH", "includeThoughts": True}}
    assert config(reasoning_effort="none") == {"thinkingConfig": {"thinkingBudget": 0}}
    older = Replica(
        id=ReplicaId("p-0"), pool=PoolName("p"), model="m", engine="gemini", host="h", port=1,
        engine_model="gemini-2.5-flash",
    )  # fmt: skip
    said = json.loads(DIALECT.call(request(reasoning_effort="low"), older).body)["generationConfig"]
    assert said == {"thinkingConfig": {"thinkingBudget": 1024, "includeThoughts": True}}


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"logprobs": True}, "logprobs"),
        ({"logit_bias": {"5": 1}}, "logit_bias"),
        ({"parallel_tool_calls": False, "tools": [TOOL]}, "parallel_tool_calls"),
        ({"functions": [{"name": "x"}]}, "functions"),
        ({"modalities": ["audio"]}, "modalities"),
        ({"web_search_options": {"search_context_size": "low"}}, "web_search_options"),
        ({"response_format": {"type": "grammar"}}, "response_format.type"),
        ({"tools": [{"type": "custom", "custom": {"name": "x"}}]}, "tools[0].type"),
        ({"tools": [TOOL], "tool_choice": "sometimes"}, "tool_choice"),
        ({"tools": [TOOL], "tool_choice": {"type": "allowed_tools"}}, "tool_choice.type"),
        ({"reasoning_effort": "heroic"}, "reasoning_effort"),
    ],
)
def test_what_would_change_the_answer_is_refused_by_its_path(fields: dict[str, Any], path: str) -> None:
    assert refused(**fields) == path


@pytest.mark.parametrize(
    ("message", "path"),
    [
        ({"role": "function", "name": "x", "content": "1"}, "messages[0].role"),
        ({"role": "tool", "tool_call_id": "none", "content": "1"}, "messages[0].tool_call_id"),
        ({"role": "assistant", "tool_calls": [call("a", "[1]")]}, "messages[0].tool_calls[0].function.arguments"),
        ({"role": "assistant", "function_call": {"name": "x"}}, "messages[0].function_call"),
        ({"role": "user", "content": [{"type": "video_url", "video_url": {}}]}, "messages[0].content[0].type"),
        ({"role": "user", "content": [{"type": "file", "file": {"file_id": "f"}}]}, "messages[0].content[0].type"),
        ({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "file:///x"}}]},
         "messages[0].content[0].image_url.url"),
    ],
)  # fmt: skip
def test_a_turn_that_cannot_be_told_is_refused_by_its_path(message: dict[str, Any], path: str) -> None:
    assert refused([message]) == path


def test_hints_are_left_out_and_named() -> None:
    lost = called(user="u", metadata={"a": "b"}, store=True, safety_identifier="s")
    assert lost.not_carried == ("metadata", "safety_identifier", "user")
    assert set(json.loads(lost.body)) == {"contents"}


def test_what_a_schema_is_for_and_a_strict_tool_are_named() -> None:
    schema = {"name": "city", "schema": {"type": "object"}, "description": "Of a city."}
    tool = {"type": "function", "function": {"name": "weather", "strict": True}}
    lost = called(response_format={"type": "json_schema", "json_schema": schema}, tools=[tool])
    assert lost.not_carried == ("tools.function.strict", "response_format.json_schema.description")


def test_a_field_that_an_operator_opened_passes_as_it_came() -> None:
    assert body(safetySettings=[{"category": "x"}])["safetySettings"] == [{"category": "x"}]


def test_the_key_is_a_line_of_the_head() -> None:
    assert DIALECT.header_lines("k") == b"x-goog-api-key: k\r\n"


# Whole answers.


def answered(*candidates: Any, **more: Any) -> Any:
    said = {"candidates": list(candidates), "usageMetadata": USAGE, "modelVersion": "g-1", "responseId": "r1"} | more
    whole = DIALECT.answer(request(), REPLICA, json.dumps(said).encode())
    assert isinstance(whole, bytes)
    return json.loads(whole)


def candidate(*parts: Any, reason: str | None = "STOP", index: int = 0) -> Any:
    said = {"content": {"role": "model", "parts": list(parts)}, "index": index}
    return said if reason is None else said | {"finishReason": reason}


def test_a_candidate_is_an_answer() -> None:
    assert answered(candidate({"text": "Hello "}, {"text": "there."})) == {
        "id": "r1",
        "object": "chat.completion",
        "created": 17,
        "model": "g-1",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "Hello there.", "refusal": None},
                "logprobs": None,
                "finish_reason": "stop",
            }
        ],
        "usage": {
            "prompt_tokens": 20,
            "completion_tokens": 9,
            "total_tokens": 29,
            "prompt_tokens_details": {"cached_tokens": 16},
            "completion_tokens_details": {"reasoning_tokens": 3},
        },
    }


def test_thoughts_and_calls_are_told_and_go_back_as_they_came() -> None:
    parts = [
        {"functionCall": {"id": "a", "name": "weather", "args": {"city": "Graz"}}, "thoughtSignature": "c2ln"},
        {"functionCall": {"name": "now"}},
    ]
    [choice] = answered(candidate({"text": "Hm.", "thought": True}, *parts))["choices"]
    message = choice["message"]
    assert (message["content"], message["reasoning_content"]) == (None, "Hm.")
    assert choice["finish_reason"] == "tool_calls"
    assert [one["id"] for one in message["tool_calls"]] == ["a", "call_r1_0_1"]
    back = body([*HELLO, message])["contents"][1]["parts"]
    assert back == [parts[0], {"functionCall": {"id": "call_r1_0_1", "name": "now", "args": {}}}]


@pytest.mark.parametrize(
    ("reason", "finish_reason"),
    [
        ("STOP", "stop"),
        ("MAX_TOKENS", "length"),
        ("SAFETY", "content_filter"),
        ("RECITATION", "content_filter"),
        ("PROHIBITED_CONTENT", "content_filter"),
        ("MALFORMED_FUNCTION_CALL", "stop"),
    ],
)
def test_why_it_ended(reason: str, finish_reason: str) -> None:
    [choice] = answered(candidate(reason=reason))["choices"]
    assert choice["finish_reason"] == finish_reason
    assert choice.get("native_finish_reason") == (None if reason in ("STOP", "MAX_TOKENS") else reason)


def test_a_prompt_that_was_blocked_is_filtered_content() -> None:
    [choice] = answered(promptFeedback={"blockReason": "SAFETY"})["choices"]
    assert (choice["finish_reason"], choice["message"]["content"]) == ("content_filter", "")


def test_several_candidates_are_several_choices() -> None:
    found = answered(candidate({"text": "a"}), candidate({"text": "b"}, index=1))["choices"]
    assert [(one["index"], one["message"]["content"]) for one in found] == [(0, "a"), (1, "b")]


# Streams.


def streamed(*events: Any, choices: int = 1) -> list[Any]:
    edit = DIALECT.stream_edit(request(stream=True, n=choices))
    assert edit is not None
    found = [one for event in events for one in edit(json.dumps(event).encode())]
    return [one if one == b"[DONE]" else json.loads(one) for one in found]


def event(*candidates: Any, **more: Any) -> Any:
    return {"candidates": list(candidates), "modelVersion": "g-1", "responseId": "r1", **more}


def deltas(found: list[Any]) -> list[Any]:
    return [choice["delta"] for one in found if one != b"[DONE]" for choice in one["choices"]]


def test_a_stream_ends_where_it_says_why() -> None:
    found = streamed(
        event(candidate({"text": "Hello"}, reason=None), usageMetadata={"promptTokenCount": 20}),
        event(candidate({"text": " there."}, reason=None)),
        event(candidate({"text": ""}), usageMetadata=USAGE),
        event(candidate(reason=None)),
    )
    assert deltas(found) == [{"role": "assistant", "content": ""}, {"content": "Hello"}, {"content": " there."}, {}]
    assert found[-3]["choices"][0]["finish_reason"] == "stop"
    assert (found[-2]["choices"], found[-2]["usage"]["completion_tokens"]) == ([], 9)
    assert found[-1] == b"[DONE]"


def test_calls_in_a_stream_come_whole_and_are_counted_over_events() -> None:
    found = streamed(
        event(candidate({"text": "Hm.", "thought": True}, reason=None)),
        event(
            candidate(
                {"functionCall": {"id": "a", "name": "weather", "args": {"city": "Graz"}}, "thoughtSignature": "c2ln"},
                reason=None,
            )
        ),
        event(candidate({"functionCall": {"name": "now"}}), usageMetadata=USAGE),
    )
    calls = [one["tool_calls"][0] for one in deltas(found) if "tool_calls" in one]
    assert [(one["index"], one["id"], one["function"]) for one in calls] == [
        (0, "a", {"name": "weather", "arguments": '{"city":"Graz"}'}),
        (1, "call_r1_0_1", {"name": "now", "arguments": "{}"}),
    ]
    assert calls[0]["extra_content"] == {"google": {"thought_signature": "c2ln"}}
    assert {"reasoning_content": "Hm."} in deltas(found)
    assert found[-3]["choices"][0]["finish_reason"] == "tool_calls"


def test_a_stream_of_several_answers_ends_with_the_last() -> None:
    found = streamed(
        event(candidate({"text": "a"})), event(candidate({"text": "b"}, index=1), usageMetadata=USAGE), choices=2
    )
    assert found.count(b"[DONE]") == 1
    assert [one["choices"][0]["index"] for one in found[:-2]] == [0, 0, 0, 1, 1, 1]


def test_a_prompt_that_was_blocked_ends_a_stream() -> None:
    found = streamed({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 4}})
    assert found[1]["choices"][0]["finish_reason"] == "content_filter"
    assert found[-1] == b"[DONE]"


def test_words_behind_the_end_are_garbage_and_not_lost() -> None:
    with pytest.raises(EngineGarbage):
        streamed(event(candidate({"text": "a"})), event(candidate({"text": "b"})))


def test_an_error_in_a_stream_is_one_that_the_relay_sees() -> None:
    [found] = streamed({"error": {"code": 500, "message": "Failed", "status": "INTERNAL"}})
    assert (found["error"]["code"], found["error"]["message"]) == ("INTERNAL", "Failed")


@pytest.mark.parametrize("status", ["UNAVAILABLE", "RESOURCE_EXHAUSTED"])
def test_an_overload_in_a_stream_is_no_fault_of_the_engine(status: str) -> None:
    with pytest.raises(EngineOverloaded):
        streamed({"error": {"code": 503, "message": "Overloaded", "status": status}})


# Embeddings.


def vectors(input_: Any, *, wants_base64: bool = False, **fields: Any) -> Request:
    return Request(
        id="r",
        operation=Operation.EMBEDDING,
        model="m",
        body=json.dumps({"model": "m", "input": input_, **fields}).encode(),
        prompts=len(input_) if isinstance(input_, list) else 1,
        wants_base64=wants_base64,
    )


def test_texts_are_asked_for_together() -> None:
    found = DIALECT.call(vectors(["a", "b"], dimensions=3, user="u", encoding_format="float"), REPLICA)
    assert found.path == "/base/v1beta/models/m:batchEmbedContents"
    assert json.loads(found.body) == {
        "requests": [
            {"model": "models/m", "content": {"parts": [{"text": text}]}, "outputDimensionality": 3} for text in "ab"
        ]
    }
    assert found.not_carried == ("user",)
    with pytest.raises(InvalidField):
        DIALECT.call(vectors([1, 2]), REPLICA)


@pytest.mark.parametrize("wants_base64", [False, True])
def test_vectors_are_told_as_they_are_wanted(wants_base64: bool) -> None:
    said = {"embeddings": [{"values": [0.5, -1.0]}, {"values": [1.0, 0.25]}], "usageMetadata": {"promptTokenCount": 4}}
    whole = DIALECT.answer(vectors(["a", "b"], wants_base64=wants_base64), REPLICA, json.dumps(said).encode())
    assert isinstance(whole, bytes)
    answer = json.loads(whole)
    told = [one["embedding"] for one in answer["data"]]
    if wants_base64:
        told = [list(unpack("<2f", b64decode(one))) for one in told]
    assert told == [[0.5, -1.0], [1.0, 0.25]]
    assert [one["index"] for one in answer["data"]] == [0, 1]
    assert answer["usage"] == {"prompt_tokens": 4, "total_tokens": 4}


def test_a_count_that_was_not_told_is_not_made_up() -> None:
    whole = DIALECT.answer(vectors("a"), REPLICA, b'{"embeddings":[{"values":[1.0]}]}')
    assert isinstance(whole, bytes)
    assert json.loads(whole)["usage"] is None


@pytest.mark.parametrize("body", [b"{}", b'{"embeddings":[]}', b'{"embeddings":[{"values":[1]},{"values":[2]}]}'])
def test_another_number_of_vectors_is_garbage(body: bytes) -> None:
    with pytest.raises(EngineGarbage):
        DIALECT.answer(vectors("a"), REPLICA, body)


# Refusals; most of them are pages of the contract.


@pytest.mark.parametrize(("delay", "seconds"), [("34s", 35), ("34.07s", 35), ("soon", None)])
def test_a_rate_limit_says_when_to_come_back(delay: str, seconds: int | None) -> None:
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}]
    said = {"error": {"code": 429, "message": "slowly", "status": "RESOURCE_EXHAUSTED", "details": details}}
    error = DIALECT.refusal(request(), 429, json.dumps(said).encode())
    assert isinstance(error, EngineRefused)
    assert (error.status, error.retry_after_s) == (429, seconds)


def test_an_overload_is_not_now() -> None:
    assert isinstance(DIALECT.refusal(request(), 503, b"{}"), EngineOverloaded)


def test_that_nothing_was_cached_is_said() -> None:
    """Else the price of a prompt would go on being forecast as if much of it were."""
    counted = usage_of(GeneratedUsage(prompt_token_count=9, candidates_token_count=2))
    assert counted["prompt_tokens_details"] == {"cached_tokens": 0}
