"""The first token is the first piece of an answer, whatever each engine says before it."""

import msgspec
import pytest

from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.engines.catalogue import ENGINES
from heterodyne.gateway.relay import EARLY_BYTES_MAX, EARLY_S, StreamRelay
from heterodyne.testing.memory_transport import MemoryTransport
from heterodyne.wire.limits import WireLimits
from heterodyne.wire.message import ANY_BODY, HeadCheck, HttpRequest, chunk
from heterodyne.wire.server_connection import ServerConnection, ServerLedger

ASKED = Request(id="c-1", operation=Operation.CHAT, model="m", body=b'{"model":"m","stream":true}', stream=True)


def delta(**fields: object) -> object:
    return {"id": "c-1", "choices": [{"index": 0, "delta": fields, "logprobs": None, "finish_reason": None}]}


ROLE = delta(role="assistant", content="")
WORD = delta(content="The")
CALL = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "now", "arguments": ""}}
# By engine: what it says before the first piece, and what that first piece may be.
EARLY: dict[str, tuple[list[object], list[object]]] = {
    "openai": ([b": OPENROUTER PROCESSING", delta(role="assistant", content="", refusal=None)], [WORD]),
    "azure-openai": ([{"choices": [], "prompt_filter_results": [{"prompt_index": 0}]}, ROLE], [WORD]),
    "vllm": (
        [{**ROLE, "prompt_token_ids": None}, delta(role="assistant", content="", reasoning_content=None)],  # type: ignore[dict-item]
        [WORD, delta(reasoning="Hm"), delta(tool_calls=[CALL])],
    ),
    "sglang": (
        [delta(role="assistant", content="", reasoning_content=None, tool_calls=None)],
        [delta(role=None, content="The", reasoning_content=None), delta(content=None, reasoning_content="Hm")],
    ),
    "llamacpp": ([delta(role="assistant", content=None)], [WORD, delta(reasoning_content="Hm")]),
    "tensorrt-llm": ([ROLE], [WORD]),
    "tgi": ([delta(role="assistant", content="")], [delta(role="assistant", content="The")]),
    "lmdeploy": ([delta(role="assistant", content="", gen_tokens=None)], [WORD]),
    "ollama": ([ROLE], [delta(role="assistant", content="The"), delta(role="assistant", reasoning="Hm")]),
    "mlx-lm": ([b": keepalive 0/1", ROLE], [delta(role="assistant", content="The")]),
    "transformers": (
        [{"id": "1", "choices": [{"delta": {"role": "assistant"}, "index": 0}], "model": "/w/m@main"}],
        [{"id": "1", "choices": [{"delta": {"content": "The"}, "index": 0}], "model": "/w/m@main"}],
    ),
    "anthropic": (
        [
            {"type": "message_start", "message": {"id": "m", "model": "c", "usage": {"input_tokens": 4}}},
            {"type": "ping"},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        ],
        [
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "The"}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Hm"}},
        ],
    ),
    "bedrock-converse": (
        [{"messageStart": {"role": "assistant"}}],
        [{"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "The"}}}],
    ),
    "gemini": (
        [{"usageMetadata": {"promptTokenCount": 4}, "modelVersion": "g", "responseId": "r"}],
        [{"candidates": [{"index": 0, "content": {"role": "model", "parts": [{"text": "The"}]}}], "responseId": "r"}],
    ),
}
CASES = [(engine, first) for engine, (_, firsts) in EARLY.items() for first in firsts]


class Stream:
    """A relay to a client in memory, on a clock that stands until it is moved."""

    def __init__(self, engine: str = "openai") -> None:
        self.now_s = 1.0
        self.begun: list[float] = []  # with the time of the first token then; 0: it had not come
        self.connection = ServerConnection(self, WireLimits(), ServerLedger(), clock=lambda: 0.0)
        self._client = MemoryTransport(self.connection)
        self._client.feed(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
        edit = ENGINES[engine].stream_edit(ASKED)
        self.relay = StreamRelay(self.connection, self, lambda: self.now_s, wants_usage=False, edit=edit)

    def hear(self, *events: object) -> None:
        """Each a second later than the one before, in a chunk of its own."""
        for one in events:
            self.now_s += 1.0
            self.relay.on_framed(chunk(told(one)), 1)

    @property
    def written(self) -> bytes:
        return self._client.written

    def check_head(self, _: HttpRequest, __: object) -> HeadCheck:
        return ANY_BODY

    def handle(self, request: object, connection: object) -> "Stream":
        return self

    def refuse(self, error: object, connection: object) -> None: ...
    def stream_complete(self) -> None: ...
    def stream_broken(self, error: object) -> None: ...
    def stream_stopped(self, error: object) -> None: ...
    def stream_begins(self) -> None:
        self.begun.append(self.relay.first_at_s)


def told(event: object) -> bytes:
    return event + b"\n\n" if isinstance(event, bytes) else b"data: " + msgspec.json.encode(event) + b"\n\n"


@pytest.mark.parametrize(("engine", "first"), CASES)
def test_what_an_engine_says_first_is_held_until_it_says_anything(engine: str, first: object) -> None:
    stream, early = Stream(engine), EARLY[engine][0]
    stream.hear(*early)
    assert (stream.written, stream.begun) == (b"", []), "nobody has won, nothing was sent"
    stream.hear(first)
    came_at_s = 2.0 + len(early)
    assert (stream.begun, stream.relay.first_at_s) == ([came_at_s], came_at_s)
    assert b"The" in stream.written or b"Hm" in stream.written or b"now" in stream.written


def test_every_byte_that_was_held_goes_out_before_the_first_token() -> None:
    stream = Stream()
    stream.hear(b": ping", ROLE, WORD, WORD)
    assert stream.written == chunk(told(b": ping") + told(ROLE)) + chunk(told(WORD)) * 2
    assert (stream.relay.events, stream.relay.events_early) == (4, 2)


@pytest.mark.parametrize(
    "end", [delta(), {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}, b"data: [DONE]"]
)
def test_the_end_of_an_answer_without_words_is_its_first_token(end: object) -> None:
    stream = Stream()
    stream.hear(ROLE, end)
    assert bool(stream.begun) is (end != delta())


def test_a_text_begins_with_its_first_letter() -> None:
    stream = Stream()
    stream.hear({"choices": [{"index": 0, "text": ""}]})
    assert not stream.begun
    stream.hear({"choices": [{"index": 0, "text": "The"}]})
    assert stream.begun == [3.0]


def test_a_token_behind_its_role_in_one_read_is_seen() -> None:
    stream = Stream()
    stream.relay.on_framed(chunk(told(ROLE)) + chunk(told(WORD)) + chunk(told(WORD)), 3)
    assert stream.begun == [1.0]
    assert (stream.relay.events, stream.relay.events_early) == (3, 1)


def test_a_word_of_a_text_is_no_member_of_an_event() -> None:
    stream = Stream()
    stream.hear({"choices": [], "note": '"content":"x'})
    assert not stream.begun


def test_an_engine_that_only_says_that_it_works_is_heard_before_long() -> None:
    """So that what stands between takes the connection for alive; the first token is still to come."""
    stream = Stream()
    for _ in range(int(EARLY_S)):
        stream.hear(b": keep-alive")
    assert not stream.begun
    stream.hear(b": keep-alive", b": keep-alive")
    assert (stream.begun, stream.relay.first_at_s) == ([0.0], 0.0)
    assert stream.written.count(b": keep-alive") == EARLY_S + 2
    stream.hear(ROLE, WORD)
    assert stream.begun == [0.0, stream.now_s]
    assert stream.relay.events_early == EARLY_S + 3


def test_no_more_than_so_much_is_held() -> None:
    stream = Stream()
    stream.hear(b": " + b"x" * EARLY_BYTES_MAX)
    assert stream.begun == [0.0]
