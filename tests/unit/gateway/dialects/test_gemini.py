"""Gemini's bodies as OpenAI's: nothing invented, nothing lost in silence."""

import json
from typing import Any

import pytest

from heterodyne.domain.errors import CallerError
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.gateway import routes
from heterodyne.gateway.settings import GatewaySettings

SETTINGS = GatewaySettings()
HELLO = [{"role": "user", "parts": [{"text": "Hello."}]}]
WEATHER = {"name": "weather", "description": "Of a city.", "parameters": {"type": "OBJECT", "properties": {}}}


def read(verb: str = "generateContent", **fields: Any) -> Request:
    route = routes.find(f"/v1beta/models/org/m:{verb}".encode())
    assert route is not None
    assert route.read is not None
    body = json.dumps(fields).encode()
    request = route.read(body, "r1", 5.0, SETTINGS)
    assert (request.model, request.received) == ("org/m", body)
    return request


def said(**fields: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(read(**{"contents": HELLO} | fields).body)
    return found


def refused(**fields: Any) -> str:
    with pytest.raises(CallerError) as error:
        read(**{"contents": HELLO} | fields)
    return f"{error.value.param}: {error.value.message}"


def test_a_question_is_a_chat() -> None:
    config = {"temperature": 0.5, "topP": 0.9, "maxOutputTokens": 10, "stopSequences": ["END"], "candidateCount": 2}
    request = read(contents=HELLO, systemInstruction={"parts": [{"text": "Be brief."}]}, generationConfig=config)
    assert (request.operation, request.choices, request.output_tokens_max) == (Operation.CHAT, 2, 10)
    assert json.loads(request.body) == {
        "model": "org/m",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello."}],
        "temperature": 0.5,
        "top_p": 0.9,
        "max_tokens": 10,
        "stop": ["END"],
        "n": 2,
    }


def test_the_verb_says_whether_it_streams() -> None:
    assert not read(contents=HELLO).stream
    streamed = read("streamGenerateContent", contents=HELLO)
    assert (streamed.stream, streamed.wants_usage) == (True, True)
    assert routes.find(b"/v1beta/models/m:predict") is None
    assert routes.find(b"/v1beta/models/:generateContent") is None


def test_turns_pictures_calls_and_results() -> None:
    contents = [
        {
            "role": "user",
            "parts": [
                {"text": "What is this?"},
                {"inlineData": {"mimeType": "image/png", "data": "aGk="}},
                {"fileData": {"fileUri": "https://example.com/a.png"}},
            ],
        },
        {
            "role": "model",
            "parts": [
                {"text": "Hm. ", "thought": True},
                {"text": "Let me see."},
                {"functionCall": {"name": "weather", "args": {"city": "Graz"}}},
                {"functionCall": {"name": "weather", "args": {"city": "Wien"}, "id": "own"}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"name": "weather", "id": "own", "response": {"sky": "grey"}}},
                {"functionResponse": {"name": "weather", "response": {"sky": "blue"}}},
            ],
        },
    ]
    question, answer, *results = said(contents=contents)["messages"]
    assert [part["type"] for part in question["content"]] == ["text", "image_url", "image_url"]
    assert question["content"][1]["image_url"]["url"] == "data:image/png;base64,aGk="
    assert (answer["content"], answer["reasoning_content"]) == ("Let me see.", "Hm. ")
    assert [(one["id"], one["function"]["arguments"]) for one in answer["tool_calls"]] == [
        ("call_1", '{"city":"Graz"}'),
        ("own", '{"city":"Wien"}'),
    ]
    assert [(one["tool_call_id"], one["content"]) for one in results] == [
        ("own", '{"sky":"grey"}'),
        ("call_1", '{"sky":"blue"}'),
    ]


@pytest.mark.parametrize(
    ("config", "choice"),
    [
        ({"mode": "AUTO"}, "auto"),
        ({"mode": "ANY"}, "required"),
        ({"mode": "NONE"}, "none"),
        ({"mode": "ANY", "allowedFunctionNames": ["weather"]}, {"type": "function", "function": {"name": "weather"}}),
    ],
)
def test_functions_and_their_choice(config: dict[str, Any], choice: Any) -> None:
    tools = [{"functionDeclarations": [WEATHER, {"name": "now", "parametersJsonSchema": {"type": "object"}}]}]
    found = said(tools=tools, toolConfig={"functionCallingConfig": config})
    assert [one["function"]["name"] for one in found["tools"]] == ["weather", "now"]
    assert found["tools"][0]["function"]["parameters"] == {"type": "object", "properties": {}}
    assert found["tool_choice"] == choice


def test_schemas_and_thoughts() -> None:
    schema = {"type": "OBJECT", "properties": {"city": {"type": "STRING"}}}
    found = said(generationConfig={"responseMimeType": "application/json", "responseSchema": schema})
    assert found["response_format"]["json_schema"]["schema"]["properties"] == {"city": {"type": "string"}}
    assert said(generationConfig={"responseMimeType": "application/json"})["response_format"] == {"type": "json_object"}
    budget = {"thinkingConfig": {"thinkingBudget": 8000}}
    request = read(contents=HELLO, generationConfig=budget)
    assert json.loads(request.body)["reasoning_effort"] == "medium"
    assert request.not_carried == ("generationConfig.thinkingConfig.thinkingBudget",)


def test_underscores_are_another_spelling_as_google_s_client_has_them() -> None:
    schema = {"type": "object", "properties": {"is_big": {"type": "boolean"}}}
    picture = {"file_data": {"file_uri": "https://example.org/a.png", "mime_type": "image/png"}}
    called = {"functionCall": {"name": "f", "args": {"is_big": 2**70}}}
    found = said(
        contents=[{"parts": [picture]}, {"role": "model", "parts": [called]}],
        tools=[{"functionDeclarations": [{"name": "f", "parameters_json_schema": schema}]}],
        generationConfig={"thinking_config": {"thinking_level": "LOW"}, "max_output_tokens": 5},
    )
    assert found["messages"][0]["content"][0]["image_url"] == {"url": "https://example.org/a.png"}
    assert json.loads(found["messages"][1]["tool_calls"][0]["function"]["arguments"])["is_big"] == pytest.approx(2**70)
    assert found["tools"][0]["function"]["parameters"] == schema
    assert (found["reasoning_effort"], found["max_tokens"]) == ("low", 5)
    both = {"max_output_tokens": 5, "maxOutputTokens": 6}
    assert "`max_output_tokens`" in refused(generationConfig=both)
    wrong = refused(contents=[{"parts": [{"file_data": {"file_uri": 5}}]}])
    assert wrong.startswith("contents[0].parts[0].fileData.fileUri: ")


def test_pictures_are_told_in_the_alphabet_that_everybody_reads() -> None:
    picture = {"inlineData": {"mimeType": "image/png", "data": "-_-_"}}
    [part] = said(contents=[{"parts": [picture]}])["messages"][0]["content"]
    assert part["image_url"] == {"url": "data:image/png;base64,+/+/"}


def test_what_no_engine_can_be_told_is_noted() -> None:
    request = read(contents=HELLO, safetySettings=[{"category": "X", "threshold": "Y"}], labels={"team": "a"})
    assert request.not_carried == ("safetySettings", "labels")


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"contents": []}, "contents"),
        ({"contents": [{"role": "user", "parts": []}]}, "contents"),
        ({"contents": [{"role": "user", "parts": [{}]}]}, "contents[0].parts[0]"),
        ({"contents": [{"role": "user", "parts": [{"executableCode": {}}]}]}, "contents[0].parts[0]"),
        (
            {"contents": [{"role": "user", "parts": [{"inlineData": {"mimeType": "audio/wav", "data": "a"}}]}]},
            "contents[0].parts[0]",
        ),
        (
            {"contents": [{"role": "user", "parts": [{"functionResponse": {"name": "x", "response": {}}}]}]},
            "contents[0].parts[0].functionResponse",
        ),
        ({"tools": [{"googleSearch": {}}]}, "tools[0]"),
        ({"cachedContent": "x"}, "None: Object contains unknown field `cachedContent`"),
        ({"generationConfig": {"maxOutputTokens": 0}}, "generationConfig.maxOutputTokens"),
    ],
)
def test_what_cannot_be_told_is_refused_by_its_path(fields: dict[str, Any], path: str) -> None:
    assert refused(**fields).startswith(path)


def test_tokens_and_vectors() -> None:
    assert read("countTokens", contents=HELLO).operation is Operation.COUNT
    inner = {"generateContentRequest": {"model": "models/m", "contents": HELLO}}
    assert json.loads(read("countTokens", **inner).body)["messages"] == [{"role": "user", "content": "Hello."}]
    content = {"parts": [{"text": "a"}, {"text": "b"}]}
    one = read("embedContent", content=content, taskType="RETRIEVAL_QUERY", outputDimensionality=8)
    assert one.operation is Operation.EMBEDDING
    assert json.loads(one.body) == {"model": "org/m", "input": ["a\nb"], "dimensions": 8}
    assert one.not_carried == ("taskType",)
    several = read("batchEmbedContents", requests=[{"model": "models/m", "content": content}, {"content": content}])
    assert json.loads(several.body)["input"] == ["a\nb", "a\nb"]
    with pytest.raises(CallerError):
        read("batchEmbedContents", requests=[{"content": content}, {"content": content, "outputDimensionality": 3}])
    with pytest.raises(CallerError):
        read("countTokens")
