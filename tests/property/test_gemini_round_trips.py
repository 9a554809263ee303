"""What goes to Gemini and is read back by our own door is what was asked; so are its answers and its streams.

Not generated, because it is documented to be lost: results of tools that are no JSON objects, names of schemas, turns
of the system in the middle, signatures.
"""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from heterodyne.domain.fleet import PoolName, Replica, ReplicaId
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.engines.gemini.dialect import GeminiDialect
from heterodyne.gateway.dialects import chat
from heterodyne.gateway.dialects import gemini as door
from heterodyne.gateway.forms.gemini import GEMINI
from heterodyne.gateway.forms.gemini_stream import GeminiStream
from heterodyne.gateway.settings import GatewaySettings
from heterodyne.wire.chunks import ChunkDecoder
from heterodyne.wire.message import CHUNKS_END, chunk
from tests.property.test_stream_splits import HEAD, Passage
from tests.support.hosted_chats import SCHEMA, asked_chats, objects, texts
from tests.support.splits import bounded, splits

DIALECT = GeminiDialect(wall_clock=lambda: 0.0)
REPLICA = Replica(id=ReplicaId("p-0"), pool=PoolName("p"), model="m", engine="gemini", host="h", port=1)
SETTINGS = GatewaySettings()
REQUEST = Request(id="r", operation=Operation.CHAT, model="m", body=b"{}", stream=True)
counts = st.integers(1, 10_000)


@st.composite
def gemini_chats(draw: st.DrawFn) -> dict[str, Any]:
    """With what Gemini has words for and others do not."""
    asked = draw(asked_chats(temperature_max=2.0, has_results_as_text=False))
    if draw(st.booleans()):
        asked["seed"] = draw(st.integers(0, 2**31))
    if draw(st.booleans()):
        asked |= {"presence_penalty": draw(st.floats(-2, 2)), "frequency_penalty": draw(st.floats(-2, 2))}
    if draw(st.booleans()):
        schema = {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA}}
        asked["response_format"] = draw(st.sampled_from([schema, {"type": "json_object"}]))
    return asked


@bounded
@given(gemini_chats())
def test_a_chat_told_to_gemini_and_read_at_our_door_is_the_same_chat(asked: dict[str, Any]) -> None:
    request = chat.read(json.dumps(asked).encode(), "r", 1.0, SETTINGS)
    call = DIALECT.call(request, REPLICA)
    assert call.not_carried == ()
    verb = call.path.partition(":")[2].partition("?")[0]
    assert (verb == "streamGenerateContent") == request.stream
    read_as = door.try_reader("m", verb)
    assert read_as is not None
    read = read_as(call.body, "r", 1.0, SETTINGS)
    assert read.not_carried == ()
    assert json.loads(read.body) == asked


@st.composite
def answers(draw: st.DrawFn) -> dict[str, Any]:
    """What Gemini answers: thoughts, words, calls, in this order."""
    parts: list[dict[str, Any]] = []
    if draw(st.booleans()):
        parts.append({"text": draw(texts), "thought": True})
    if draw(st.booleans()):
        parts.append({"text": draw(texts)})
    for number, arguments in enumerate(draw(st.lists(objects, max_size=3))):
        parts.append({"functionCall": {"id": f"c_{number}", "name": "weather", "args": arguments}})
    prompt, written, thoughts = draw(counts), draw(counts), draw(counts)
    reason = draw(st.sampled_from(["STOP", "MAX_TOKENS", "SAFETY"]))
    return {
        "candidates": [{"content": {"role": "model", "parts": parts}, "index": 0, "finishReason": reason}],
        "modelVersion": "m",
        "responseId": "r",
        "usageMetadata": {
            "promptTokenCount": prompt,
            "candidatesTokenCount": written,
            "thoughtsTokenCount": thoughts,
            "totalTokenCount": prompt + written + thoughts,
            "cachedContentTokenCount": draw(counts),
        },
    }


@bounded
@given(answers())
def test_an_answer_of_gemini_s_told_by_our_form_is_the_same_answer(answer: dict[str, Any]) -> None:
    whole = DIALECT.answer(REQUEST, REPLICA, json.dumps(answer).encode())
    assert isinstance(whole, bytes)
    assert GEMINI.whole is not None
    assert json.loads(GEMINI.whole(REQUEST, whole)) == answer


@st.composite
def streams(draw: st.DrawFn, answer: dict[str, Any]) -> list[dict[str, Any]]:
    """The events of one answer, its texts in pieces; why it ended is with the last part, or behind it."""
    [candidate] = answer["candidates"]
    pieces: list[dict[str, Any]] = []
    for part in candidate["content"]["parts"]:
        if "text" not in part:
            pieces.append(part)
            continue
        cut = draw(st.integers(0, len(part["text"])))
        pieces += [part | {"text": text} for text in (part["text"][:cut], part["text"][cut:]) if text]
    if not pieces or draw(st.booleans()):
        pieces.append({"text": ""})
    usage = {"promptTokenCount": answer["usageMetadata"]["promptTokenCount"]}
    events: list[dict[str, Any]] = []
    for piece in pieces:
        said = {"content": {"role": "model", "parts": [piece]}, "index": 0}
        events.append({"candidates": [said], "modelVersion": "m", "responseId": "r", "usageMetadata": usage})
    events[-1]["candidates"][0]["finishReason"] = candidate["finishReason"]
    events[-1]["usageMetadata"] = answer["usageMetadata"]
    return events


def framed(events: list[dict[str, Any]]) -> bytes:
    return b"".join(b"data: %b\r\n\r\n" % json.dumps(one).encode() for one in events)


def put_together(stream: bytes) -> dict[str, Any]:
    """The answer that a stream of Gemini's stands for."""
    answer: dict[str, Any] = {}
    parts: list[dict[str, Any]] = []
    for event in stream.split(b"\n\n")[:-1]:
        said = json.loads(event.removeprefix(b"data: "))
        [candidate] = said["candidates"]
        for part in candidate["content"]["parts"]:
            last = parts[-1] if parts else {}
            if "text" in part and "text" in last and part.get("thought") == last.get("thought"):
                last["text"] += part["text"]
            else:
                parts.append(part)
        answer |= said
    answer["candidates"][0]["content"]["parts"] = parts
    return answer


@bounded
@given(st.data(), answers())
def test_a_stream_of_gemini_s_cut_anywhere_and_told_by_our_form_is_the_same_answer(
    data: st.DataObject, answer: dict[str, Any]
) -> None:
    body = framed(data.draw(streams(answer)))
    pieces = b"".join(chunk(piece) for piece in data.draw(splits(body))) + CHUNKS_END
    passage = Passage(wants_usage=True, edit=DIALECT.stream_edit(REQUEST))
    passage.feed(*data.draw(splits(HEAD + pieces)))
    assert passage.ends == ["complete"]
    chunks = ChunkDecoder().feed(passage.client.written)
    assert chunks.endswith(b"data: [DONE]\n\n")
    form = GeminiStream(REQUEST)
    told = b"".join(form.events(event) for event in chunks.split(b"\n\n")[:-1])
    assert put_together(told) == answer


@bounded
@given(st.data(), answers())
def test_a_stream_of_gemini_s_cut_short_is_never_complete(data: st.DataObject, answer: dict[str, Any]) -> None:
    whole = HEAD + chunk(framed(data.draw(streams(answer)))) + CHUNKS_END
    cut = whole[: data.draw(st.integers(len(HEAD), len(whole) - 1))]
    passage = Passage(wants_usage=True, edit=DIALECT.stream_edit(REQUEST))
    passage.feed(*data.draw(splits(cut)))
    passage.engine.lose()
    assert passage.ends == ["engine_broke"]
