"""A mock engine on uvloop: one canned JSON answer, or a stream of one-token writes. Run alone: upstream.py PORT...

On several ports it is as many replicas.
"""

import asyncio
import contextlib
import json
import sys

import httptools
import uvloop

TOKENS = 64
TOKEN = " hello"
MODEL = "mock"
PACED_USER, TOKEN_GAP_S = "paced", 0.01  # whose streams come at an engine's pace


def json_answer(value: object) -> bytes:
    """A whole 200 answer."""
    body = json.dumps(value).encode()
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


def event(value: object) -> bytes:
    """One server-sent event in one HTTP chunk."""
    data = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
    return b"%x\r\ndata: %s\n\n\r\n" % (len(data) + 8, data.encode())


def chunk(choices: list[dict[str, object]], **more: object) -> bytes:
    """One event of a chat stream."""
    common = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": MODEL}
    return event({**common, "choices": choices, **more})


def choice(delta: dict[str, str], finish_reason: str | None = None) -> list[dict[str, object]]:
    """The only choice of a chat event."""
    return [{"index": 0, "delta": delta, "finish_reason": finish_reason}]


USAGE = {"prompt_tokens": 20, "completion_tokens": TOKENS, "total_tokens": 20 + TOKENS}
MESSAGE = {"role": "assistant", "content": TOKEN * TOKENS}
WHOLE = json_answer(
    {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": MODEL,
        "choices": [{"index": 0, "message": MESSAGE, "finish_reason": "stop"}],
        "usage": USAGE,
    }
)
MODELS = json_answer({"object": "list", "data": [{"id": MODEL, "object": "model", "created": 1, "owned_by": "mock"}]})
HEALTH = json_answer({})
STREAM_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
STREAM_FIRST = chunk(choice({"role": "assistant", "content": ""}))
STREAM_TOKEN = chunk(choice({"content": TOKEN}))
STREAM_LAST = chunk(choice({}, "stop")) + chunk([], usage=USAGE) + event("[DONE]") + b"0\r\n\r\n"


class Engine(asyncio.Protocol):
    """One connection; a request is answered when its last byte is here."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self.parser = httptools.HttpRequestParser(self)
        self.streams: set[asyncio.Task[None]] = set()

    def connection_lost(self, error: Exception | None) -> None:
        for stream in self.streams:
            stream.cancel()

    def data_received(self, data: bytes) -> None:
        self.parser.feed_data(data)

    def on_url(self, url: bytes) -> None:
        self.url = url
        self.body = b""

    def on_body(self, piece: bytes) -> None:
        self.body += piece

    def on_message_complete(self) -> None:
        if self.parser.get_method() == b"GET":
            self.transport.write(MODELS if self.url.startswith(b"/v1/models") else HEALTH)
        elif b'"stream":true' in self.body or b'"stream": true' in self.body:
            is_paced = PACED_USER.encode() in self.body
            stream = asyncio.ensure_future(self.stream(TOKEN_GAP_S if is_paced else 0))
            self.streams.add(stream)
            stream.add_done_callback(self.streams.discard)
        else:
            self.transport.write(WHOLE)

    async def stream(self, gap_s: float) -> None:
        """Each token is a write of its own, in a turn of the loop of its own, as an engine's step is."""
        self.transport.write(STREAM_HEAD + STREAM_FIRST)
        for _ in range(TOKENS):
            await asyncio.sleep(gap_s)
            self.transport.write(STREAM_TOKEN)
        self.transport.write(STREAM_LAST)


async def serve(ports: list[int]) -> None:
    """Listen on loopback until ended."""
    loop = asyncio.get_running_loop()
    async with contextlib.AsyncExitStack() as stack:
        for port in ports:
            await stack.enter_async_context(await loop.create_server(Engine, "127.0.0.1", port, backlog=1024))
        await asyncio.Event().wait()


if __name__ == "__main__":
    uvloop.run(serve([int(port) for port in sys.argv[1:]]))
