"""Anthropic's bodies as OpenAI's: nothing invented, nothing lost in silence."""

import json
from typing import Any

import pytest

from heterodyne.domain.errors import CallerError
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.gateway.dialects import anthropic
from heterodyne.gateway.settings import GatewaySettings

SETTINGS = GatewaySettings()
HELLO = [{"role": "user", "content": "Hello."}]
WEATHER = {"name": "weather", "description": "Of a city.", "input_schema": {"type": "object", "properties": {}}}


def read(**fields: Any) -> Request:
    body = json.dumps({"model": "m", "max_tokens": 10, "messages": HELLO} | fields).encode()
    request = anthropic.read(body, "r1", 5.0, SETTINGS)
    assert request.received == body
    return request


def said(**fields: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(read(**fields).body)
    return found


def messages(*turns: tuple[str, Any]) -> Any:
    return said(messages=[{"role": role, "content": content} for role, content in turns])["messages"]


def refused(**fields: Any) -> str:
    with pytest.raises(CallerError) as error:
        read(**fields)
    return f"{error.value.param}: {error.value.message}"


def test_a_question_is_a_chat() -> None:
    request = read(system="Be brief.", temperature=0.5, top_p=0.9, stop_sequences=["END"], metadata={"user_id": "u7"})
    assert (request.operation, request.model, request.output_tokens_max) == (Operation.CHAT, "m", 10)
    assert (request.stream, request.user, request.not_carried) == (False, "u7", ())
    assert json.loads(request.body) == {
        "model": "m",
        "max_tokens": 10,
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello."}],
        "temperature": 0.5,
        "top_p": 0.9,
        "stop": ["END"],
        "user": "u7",
    }


def test_a_stream_asks_for_its_usage() -> None:
    request = read(stream=True)
    assert (request.stream, request.wants_usage) == (True, True)
    assert json.loads(request.body)["stream_options"] == {"include_usage": True}


def test_what_engines_call_their_own_goes_to_those_that_take_it() -> None:
    assert read(top_k=40).private_fields == ("top_k",)


def test_blocks_are_parts() -> None:
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
    linked = {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}
    assert messages(("user", [{"type": "text", "text": "What is this?"}, picture, linked])) == [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "What is this?"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
                {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}},
            ],
        }
    ]
    assert messages(("user", [{"type": "text", "text": "alone"}])) == [{"role": "user", "content": "alone"}]


def test_calls_and_results_keep_their_order_and_ids() -> None:
    found = messages(
        ("user", "Weather?"),
        (
            "assistant",
            [
                {"type": "thinking", "thinking": "A tool. ", "signature": ""},
                {"type": "text", "text": "Let me see."},
                {"type": "tool_use", "id": "t1", "name": "weather", "input": {"city": "Graz"}},
                {"type": "tool_use", "id": "t2", "name": "now", "input": {}},
            ],
        ),
        (
            "user",
            [
                {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "sunny"}]},
                {"type": "tool_result", "tool_use_id": "t2"},
                {"type": "text", "text": "And tomorrow?"},
            ],
        ),
    )
    assert found[1:] == [
        {
            "role": "assistant",
            "content": "Let me see.",
            "reasoning_content": "A tool. ",
            "tool_calls": [
                {"id": "t1", "type": "function", "function": {"name": "weather", "arguments": '{"city":"Graz"}'}},
                {"id": "t2", "type": "function", "function": {"name": "now", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": "t1", "content": "sunny"},
        {"role": "tool", "tool_call_id": "t2", "content": ""},
        {"role": "user", "content": "And tomorrow?"},
    ]


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ({"type": "auto"}, {"tool_choice": "auto"}),
        ({"type": "any"}, {"tool_choice": "required"}),
        ({"type": "none"}, {"tool_choice": "none"}),
        (
            {"type": "tool", "name": "weather", "disable_parallel_tool_use": True},
            {"tool_choice": {"type": "function", "function": {"name": "weather"}}, "parallel_tool_calls": False},
        ),
    ],
)
def test_tools_and_their_choice(choice: dict[str, Any], expected: dict[str, Any]) -> None:
    found = said(tools=[WEATHER], tool_choice=choice)
    function = {"name": "weather", "description": "Of a city.", "parameters": WEATHER["input_schema"]}
    assert found["tools"] == [{"type": "function", "function": function}]
    assert {name: found.get(name) for name in expected} == expected


@pytest.mark.parametrize(("budget", "effort"), [(1024, "low"), (8000, "medium"), (32000, "high")])
def test_a_budget_of_thoughts_is_an_effort_and_that_is_said(budget: int, effort: str) -> None:
    request = read(thinking={"type": "enabled", "budget_tokens": budget})
    assert json.loads(request.body)["reasoning_effort"] == effort
    assert request.not_carried == ("thinking.budget_tokens",)
    assert said(output_config={"effort": "max"})["reasoning_effort"] == "high"


def test_a_schema_is_a_schema() -> None:
    schema = {"type": "object", "properties": {"city": {"type": "string"}}}
    for fields in (
        {"output_format": {"type": "json_schema", "schema": schema}},
        {"output_config": {"format": {"type": "json_schema", "schema": schema}}},
    ):
        assert said(**fields)["response_format"]["json_schema"]["schema"] == schema
    assert refused(output_format={"type": "xml"}).startswith("output_format.type")


def test_what_no_engine_can_be_told_is_noted() -> None:
    cached = {"cache_control": {"type": "ephemeral"}}
    request = read(
        system=[{"type": "text", "text": "Be brief.", **cached}],
        messages=[
            {"role": "user", "content": "Weather?"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "weather", "input": {}}]},
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "t", "is_error": True}],
            },
        ],
        tools=[WEATHER | cached],
        service_tier="standard_only",
    )
    assert set(request.not_carried) == {
        "messages.content.cache_control",
        "messages.content.is_error",
        "tools.cache_control",
        "service_tier",
    }


def test_what_is_newer_than_this_gateway_and_what_anthropic_runs_beside_others_is_named() -> None:
    hosted = {"type": "web_search_20250305", "name": "web_search"}
    request = read(tools=[hosted, WEATHER], context_management={"edits": []}, new_hint=1, mcp_servers=[])
    assert request.not_carried == ("context_management", "new_hint", "tools[0].type")
    assert [one["function"]["name"] for one in json.loads(request.body)["tools"]] == ["weather"]


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"messages": []}, "messages"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_tokens": "many"}, "max_tokens"),
        ({"mcp_servers": [{"url": "http://x"}]}, "mcp_servers: mcp_servers: no tools are run here"),
        ({"container": "c"}, "container: container: no tools are run here"),
        ({"a b": 1}, "None: Object contains unknown field 'a b'"),
        ({f"x{number}": 1 for number in range(17)}, "None: The body has more than 16 fields"),
        ({"messages": [{"role": "system", "content": "x"}]}, "messages[0].role"),
        ({"messages": [{"role": "user", "content": [{"type": "document"}]}]}, "messages[0].content[0].type"),
        ({"messages": [{"role": "user", "content": [{"type": "image"}]}]}, "messages[0].content[0].source"),
        (
            {"messages": [{"role": "user", "content": [{"type": "image", "source": {"type": "file"}}]}]},
            "messages[0].content[0].source",
        ),
        (
            {"messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t9"}]}]},
            "messages[0].content[0].tool_use_id",
        ),
        ({"tools": [{"type": "web_search_20250305", "name": "web_search"}]}, "tools[0].type"),
        ({"tools": [WEATHER], "tool_choice": {"type": "tool"}}, "tool_choice.name"),
        ({"system": [{"type": "image"}]}, "system[0].type"),
    ],
)
def test_what_cannot_be_told_is_refused_by_its_path(fields: dict[str, Any], path: str) -> None:
    assert refused(**fields).startswith(path)


def test_tokens_are_counted_by_the_engine() -> None:
    body = json.dumps({"model": "m", "messages": HELLO, "system": "Be brief.", "tools": [WEATHER]}).encode()
    request = anthropic.read_count(body, "r1", 5.0, SETTINGS)
    assert request.operation is Operation.COUNT
    found = json.loads(request.body)
    assert [one["role"] for one in found["messages"]] == ["system", "user"]
    assert found["tools"][0]["function"]["name"] == "weather"
    with pytest.raises(CallerError, match="max_tokens"):
        anthropic.read_count(
            json.dumps({"model": "m", "messages": HELLO, "max_tokens": 1}).encode(), "r", 5.0, SETTINGS
        )
