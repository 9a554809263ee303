"""What goes to Anthropic and is read back by our own door is what was asked; so are its answers and its streams.

Not generated, because it is documented to be lost: names of schemas, efforts beyond `high`, turns of the system in the
middle, several texts in one turn of the model's, signatures of thoughts.
"""

import json
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from heterodyne.domain.fleet import PoolName, Replica, ReplicaId
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.engines.anthropic.dialect import AnthropicDialect
from heterodyne.gateway.dialects import anthropic as door
from heterodyne.gateway.dialects import chat
from heterodyne.gateway.forms.anthropic import ANTHROPIC
from heterodyne.gateway.forms.anthropic_stream import AnthropicStream
from heterodyne.gateway.settings import GatewaySettings
from heterodyne.wire.chunks import ChunkDecoder
from heterodyne.wire.message import CHUNKS_END, chunk
from tests.property.test_stream_splits import HEAD, Passage
from tests.support.hosted_chats import SCHEMA, asked_chats, objects, texts
from tests.support.splits import bounded, splits

DIALECT = AnthropicDialect(wall_clock=lambda: 0.0)
REPLICA = Replica(id=ReplicaId("p-0"), pool=PoolName("p"), model="m", engine="anthropic", host="h", port=1)
SETTINGS = GatewaySettings()
REQUEST = Request(id="r", operation=Operation.CHAT, model="m", body=b"{}", stream=True)
counts = st.integers(0, 10_000)


@st.composite
def claude_chats(draw: st.DrawFn) -> dict[str, Any]:
    """With what Anthropic has words for and others do not."""
    asked = draw(asked_chats(temperature_max=1.0, has_results_as_text=True))
    if draw(st.booleans()):
        asked["user"] = draw(texts)
    if asked.get("tool_choice", "none") != "none" and draw(st.booleans()):
        asked["parallel_tool_calls"] = False
    if draw(st.booleans()):
        schema = {"name": "answer", "schema": SCHEMA, "strict": True}
        asked["response_format"] = {"type": "json_schema", "json_schema": schema}
    return asked


@bounded
@given(claude_chats())
def test_a_chat_told_to_anthropic_and_read_at_our_door_is_the_same_chat(asked: dict[str, Any]) -> None:
    request = chat.read(json.dumps(asked).encode(), "r", 1.0, SETTINGS)
    call = DIALECT.call(request, REPLICA)
    assert call.not_carried == ()
    read = door.read(call.body, "r", 1.0, SETTINGS)
    assert read.not_carried == ()
    assert json.loads(read.body) == asked
    assert (read.stream, read.wants_usage, read.output_tokens_max, read.user) == (
        request.stream,
        request.wants_usage,
        request.output_tokens_max,
        request.user,
    )


@st.composite
def messages(draw: st.DrawFn) -> dict[str, Any]:
    """What Anthropic answers: thoughts, words, calls, in this order."""
    content: list[dict[str, Any]] = []
    if draw(st.booleans()):
        content.append({"type": "thinking", "thinking": draw(texts), "signature": ""})
    if draw(st.booleans()):
        content.append({"type": "text", "text": draw(texts)})
    calls = draw(st.lists(objects, max_size=3))
    for number, arguments in enumerate(calls):
        content.append({"type": "tool_use", "id": f"toolu_{number}", "name": "weather", "input": arguments})
    stop_reason = "tool_use" if calls else draw(st.sampled_from(["end_turn", "max_tokens", "stop_sequence", "refusal"]))
    return {
        "id": "msg_r",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": "END" if stop_reason == "stop_sequence" else None,
        "usage": {
            "input_tokens": draw(counts),
            "output_tokens": draw(counts),
            "cache_read_input_tokens": draw(counts),
            "cache_creation_input_tokens": 0,
        },
    }


@bounded
@given(messages())
def test_an_answer_of_anthropic_s_told_by_our_form_is_the_same_answer(message: dict[str, Any]) -> None:
    whole = DIALECT.answer(REQUEST, REPLICA, json.dumps(message).encode())
    assert isinstance(whole, bytes)
    assert ANTHROPIC.whole is not None
    assert json.loads(ANTHROPIC.whole(REQUEST, whole)) == message


@st.composite
def streams(draw: st.DrawFn, message: dict[str, Any]) -> list[dict[str, Any]]:
    """The events of one message, its texts in pieces."""
    usage = message["usage"]
    first = message | {"content": [], "stop_reason": None, "stop_sequence": None, "usage": usage | {"output_tokens": 1}}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": first}, {"type": "ping"}]
    for index, block in enumerate(message["content"]):
        name, kind, field = {
            "thinking": ("thinking", "thinking_delta", "thinking"),
            "text": ("text", "text_delta", "text"),
            "tool_use": ("input", "input_json_delta", "partial_json"),
        }[block["type"]]
        value = block[name]
        text = value if isinstance(value, str) else json.dumps(value)
        empty = {} if name == "input" else ""
        events.append({"type": "content_block_start", "index": index, "content_block": block | {name: empty}})
        cuts = sorted({0, len(text), *draw(st.lists(st.integers(0, len(text)), max_size=4))})
        for start, stop in pairwise(cuts):
            delta = {"type": kind, field: text[start:stop]}
            events.append({"type": "content_block_delta", "index": index, "delta": delta})
        events.append({"type": "content_block_stop", "index": index})
    delta = {"stop_reason": message["stop_reason"], "stop_sequence": message["stop_sequence"]}
    events.append({"type": "message_delta", "delta": delta, "usage": {"output_tokens": usage["output_tokens"]}})
    return [*events, {"type": "message_stop"}]


def framed(events: list[dict[str, Any]]) -> bytes:
    return b"".join(b"event: %b\ndata: %b\n\n" % (one["type"].encode(), json.dumps(one).encode()) for one in events)


def put_together(stream: bytes) -> dict[str, Any]:
    """The message that a stream of Anthropic's stands for."""
    message: dict[str, Any] = {}
    for event in stream.split(b"\n\n")[:-1]:
        said = json.loads(event.split(b"\ndata: ", 1)[1])
        match said["type"]:
            case "message_start":
                message = said["message"]
            case "content_block_start":
                message["content"].append(said["content_block"])
            case "content_block_delta":
                block, delta = message["content"][said["index"]], said["delta"]
                if delta["type"] == "input_json_delta":
                    block["partial"] = block.get("partial", "") + delta["partial_json"]
                else:
                    name = "text" if delta["type"] == "text_delta" else "thinking"
                    block[name] += delta[name]
            case "content_block_stop":
                block = message["content"][said["index"]]
                if "partial" in block:
                    block["input"] = json.loads(block.pop("partial"))
            case "message_delta":
                message |= said["delta"]
                message["usage"] = said["usage"]
    return message


@bounded
@given(st.data(), messages())
def test_a_stream_of_anthropic_s_cut_anywhere_and_told_by_our_form_is_the_same_answer(
    data: st.DataObject, message: dict[str, Any]
) -> None:
    body = framed(data.draw(streams(message)))
    pieces = b"".join(chunk(piece) for piece in data.draw(splits(body))) + CHUNKS_END
    passage = Passage(wants_usage=True, edit=DIALECT.stream_edit(REQUEST))
    passage.feed(*data.draw(splits(HEAD + pieces)))
    assert passage.ends == ["complete"]
    chunks = ChunkDecoder().feed(passage.client.written)
    assert chunks.endswith(b"data: [DONE]\n\n")
    form = AnthropicStream(REQUEST)
    told = b"".join(form.events(event) for event in chunks.split(b"\n\n")[:-1])
    assert put_together(told) == message


@bounded
@given(st.data(), messages())
def test_a_stream_of_anthropic_s_cut_short_is_never_complete(data: st.DataObject, message: dict[str, Any]) -> None:
    whole = HEAD + chunk(framed(data.draw(streams(message)))) + CHUNKS_END
    cut = whole[: data.draw(st.integers(len(HEAD), len(whole) - 1))]
    passage = Passage(wants_usage=True, edit=DIALECT.stream_edit(REQUEST))
    passage.feed(*data.draw(splits(cut)))
    passage.engine.lose()
    assert passage.ends == ["engine_broke"]
