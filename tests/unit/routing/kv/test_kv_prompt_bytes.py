"""The bytes that stand for a chat."""

import json

import msgspec

from heterodyne.routing.kv.chain import chain_of
from heterodyne.routing.kv.prompt_bytes import Said, chat_bytes


class Message(msgspec.Struct):
    role: str
    content: msgspec.Raw = msgspec.Raw(b"")
    tool_calls: msgspec.Raw = msgspec.Raw(b"")


class Body(msgspec.Struct):
    messages: list[Message]
    tools: msgspec.Raw = msgspec.Raw(b"")


def bytes_of(messages: list[dict[str, object]], **more: object) -> bytes:
    body = msgspec.json.decode(json.dumps({"messages": messages, **more}), type=Body)
    return chat_bytes((Said(one.role, one.content, one.tool_calls) for one in body.messages), body.tools)


SYSTEM: dict[str, object] = {"role": "system", "content": "You are terse. " * 60}
QUESTION: dict[str, object] = {"role": "user", "content": "How far is the moon? " * 30}
ANSWER: dict[str, object] = {"role": "assistant", "content": "384,400 km."}
TOOLS = [{"type": "function", "function": {"name": "look_up", "parameters": {}}}]


def test_the_next_turn_begins_with_the_bytes_of_this_one() -> None:
    now = bytes_of([SYSTEM, QUESTION], tools=TOOLS)
    later = bytes_of([SYSTEM, QUESTION, ANSWER, {"role": "user", "content": "And the sun?"}], tools=TOOLS)
    assert later.startswith(now)


def test_the_next_turn_shares_every_block_of_this_one() -> None:
    now = chain_of(b"t", bytes_of([SYSTEM, QUESTION]), 0.25)
    later = chain_of(b"t", bytes_of([SYSTEM, QUESTION, ANSWER, QUESTION]), 0.25)
    assert now.hashes
    assert later.hashes[: len(now.hashes)] == now.hashes


def test_other_tools_are_another_prompt_from_the_start() -> None:
    with_tools, without = (chain_of(b"t", bytes_of([SYSTEM], tools=tools), 0.25) for tools in (TOOLS, []))
    assert with_tools.hashes[0] != without.hashes[0]


def test_images_and_tool_calls_are_part_of_the_prompt() -> None:
    def image(url: str) -> dict[str, object]:
        return {"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}

    assert bytes_of([image("data:a")]) != bytes_of([image("data:b")])
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "type": "function"}]}
    assert bytes_of([call]) != bytes_of([{"role": "assistant", "content": None}])


def test_a_role_cannot_be_mistaken_for_content() -> None:
    assert bytes_of([{"role": "user", "content": "a\nassistant"}]) != bytes_of(
        [{"role": "user", "content": "a"}, {"role": "assistant"}]
    )
