"""What a chat becomes in Converse's words, held to the shapes that botocore has of them."""

import json
from typing import Any

import pytest

from heterodyne.domain.errors import InvalidField
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.engines.converse.request import converse_body
from tests.support.converse import check_shape

PDF = "data:application/pdf;base64,aGVsbG8="
TOOL = {"type": "function", "function": {"name": "now"}}
CALL = {"id": "c1", "type": "function", "function": {"name": "now", "arguments": "{}"}}


def told(messages: list[Any], **more: Any) -> tuple[dict[str, Any], tuple[str, ...]]:
    body = json.dumps({"model": "m", "messages": messages, **more}).encode()
    made, lost = converse_body(Request(id="r", operation=Operation.CHAT, model="m", body=body))
    check_shape("Converse", made)
    return json.loads(made), lost


def user(*parts: Any) -> list[Any]:
    return [{"role": "user", "content": list(parts)}]


def file(name: str | None, data: str = PDF) -> dict[str, Any]:
    return {"type": "file", "file": {"file_data": data} | ({"filename": name} if name is not None else {})}


@pytest.mark.parametrize(
    ("name", "told_as", "is_named"),
    [
        ("report (2).pdf", "report (2)", False),
        ("a/b_c.pdf", "a-b-c", True),
        ("two  spaces", "two -spaces", True),
        ("", "document", False),
        (None, "document", False),
        ("é" * 300, "-" * 200, True),
    ],
)
def test_a_document_has_a_name_of_the_characters_that_it_may_have(name: str, told_as: str, is_named: bool) -> None:
    body, lost = told(user(file(name)))
    [block] = body["messages"][0]["content"]
    assert block["document"] == {"format": "pdf", "name": told_as, "source": {"bytes": "aGVsbG8="}}
    assert lost == (("messages.content.file.filename",) if is_named else ())


@pytest.mark.parametrize(
    ("kind", "format"), [("text/csv", "csv"), ("text/markdown", "md"), ("application/vnd.ms-excel", "xls")]
)
def test_documents_are_of_several_kinds(kind: str, format: str) -> None:
    body, _ = told(user(file("a", f"data:{kind};base64,aGk=")))
    assert body["messages"][0]["content"][0]["document"]["format"] == format


def test_sounds_and_pictures_are_blocks() -> None:
    sound = {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "mp3"}}
    picture = {"type": "image_url", "image_url": {"url": "data:image/jpg;base64,aGk=", "detail": "low"}}
    body, lost = told(user(sound, picture))
    assert body["messages"][0]["content"] == [
        {"audio": {"format": "mp3", "source": {"bytes": "aGk="}}},
        {"image": {"format": "jpeg", "source": {"bytes": "aGk="}}},
    ]
    assert lost == ("messages.content.image_url.detail",)


@pytest.mark.parametrize(
    ("part", "path"),
    [
        (file("a", "data:application/zip;base64,aGk="), "file.file_data"),
        (file("a", "aGk="), "file.file_data"),
        ({"type": "image_url", "image_url": {"url": "data:image/tiff;base64,aGk="}}, "image_url.url"),
        ({"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}, "image_url.url"),
        ({"type": "input_audio", "input_audio": {"data": "aGk=", "format": "midi"}}, "type"),
        ({"type": "file", "file": {"file_id": "file-1"}}, "type"),
        ({"type": "video_url"}, "type"),
    ],
)
def test_what_it_cannot_be_shown_is_refused_by_its_place(part: dict[str, Any], path: str) -> None:
    with pytest.raises(InvalidField) as refused:
        told(user(part))
    assert refused.value.param == f"messages[0].content[0].{path}"


def test_users_and_models_take_turns_and_results_stand_before_what_is_said_with_them() -> None:
    turns = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "One."},
        {"role": "user", "content": "Two."},
        {"role": "assistant", "content": "", "tool_calls": [CALL, CALL | {"id": "c2"}]},
        {"role": "tool", "tool_call_id": "c1", "content": "12:00"},
        {"role": "tool", "tool_call_id": "c2", "content": ""},
        {"role": "user", "content": "And?"},
    ]
    body, _ = told(turns, tools=[TOOL])
    assert body["system"] == [{"text": "Be brief."}]
    assert [one["role"] for one in body["messages"]] == ["user", "assistant", "user"]
    assert body["messages"][0]["content"] == [{"text": "One."}, {"text": "Two."}]
    assert body["messages"][2]["content"] == [
        {"toolResult": {"toolUseId": "c1", "content": [{"text": "12:00"}]}},
        {"toolResult": {"toolUseId": "c2", "content": []}},
        {"text": "And?"},
    ]


@pytest.mark.parametrize(
    ("choice", "told_as"),
    [
        ("auto", {"auto": {}}),
        ("required", {"any": {}}),
        ({"type": "function", "function": {"name": "now"}}, {"tool": {"name": "now"}}),
    ],
)
def test_a_choice_of_tools_is_told(choice: Any, told_as: Any) -> None:
    body, _ = told(user({"type": "text", "text": "Hi"}), tools=[TOOL], tool_choice=choice)
    assert body["toolConfig"]["toolChoice"] == told_as


def test_tools_that_may_not_be_called_are_not_shown_and_that_is_named() -> None:
    asked = user({"type": "text", "text": "Hi"})
    body, lost = told(asked, tools=[TOOL], tool_choice="none")
    assert "toolConfig" not in body
    assert lost == ("tools",)
    called = [*asked, {"role": "assistant", "content": None, "tool_calls": [CALL]}]
    results = [{"role": "tool", "tool_call_id": "c1", "content": "12:00"}]
    with pytest.raises(InvalidField) as refused:
        told([*called, *results], tools=[TOOL], tool_choice="none")
    assert refused.value.param == "tool_choice"


def test_a_schema_goes_with_its_name_and_what_it_is_for() -> None:
    schema = {"name": "answer", "description": "Of a city.", "schema": {"type": "object"}, "strict": True}
    wanted = {"type": "json_schema", "json_schema": schema}
    body, lost = told(user({"type": "text", "text": "Hi"}), response_format=wanted, reasoning_effort="minimal")
    assert body["outputConfig"] == {
        "effort": "low",
        "textFormat": {
            "type": "json_schema",
            "structure": {"jsonSchema": {"schema": '{"type":"object"}', "name": "answer", "description": "Of a city."}},
        },
    }
    assert lost == ()


def test_what_an_operator_opened_goes_as_it_came() -> None:
    opened = {"additionalModelRequestFields": {"top_k": 5}, "requestMetadata": {"team": "a"}}
    body, lost = told(user({"type": "text", "text": "Hi"}), **opened, user="u", seed=3)
    assert {name: body[name] for name in opened} == opened
    assert set(body) == {"messages", *opened}
    assert lost == ("seed", "user")
