"""However an engine's stream is cut, by its chunks and on its way, the client gets the same events."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from heterodyne.domain.errors import EngineError, HeterodyneError
from heterodyne.gateway.relay import StreamRelay
from heterodyne.ports.engine import EventEdit
from heterodyne.testing.memory_transport import MemoryTransport
from heterodyne.wire.chunks import ChunkDecoder
from heterodyne.wire.client_connection import ClientConnection
from heterodyne.wire.limits import WireLimits
from heterodyne.wire.message import ANY_BODY, CHUNKS_END, HeadCheck, HttpRequest, chunk
from heterodyne.wire.server_connection import ServerConnection, ServerLedger
from tests.support.memory_network import MemoryNetwork
from tests.support.requests import get
from tests.support.splits import bounded, splits

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
USAGE = b'{"choices":[],"usage":{"prompt_tokens":11,"completion_tokens":3}}'
words = st.lists(st.text(max_size=20), max_size=6)
separators = st.sampled_from([b"\n\n", b"\r\n\r\n", b"\n\n\n"])


class Pool:
    """Where connections go back to."""

    def is_idle(self, connection: ClientConnection) -> None: ...
    def is_closed(self, connection: ClientConnection) -> None: ...


class Passage:
    """An engine connection and a client connection with a relay between them, no sockets anywhere."""

    def __init__(self, *, wants_usage: bool, edit: EventEdit | None = None) -> None:
        self._wants_usage = wants_usage
        self._edit = edit
        self.ends: list[str] = []
        self.relay: StreamRelay | None = None
        limits = WireLimits()
        self._to_client = ServerConnection(self, limits, ServerLedger(), clock=lambda: 0.0)
        self.client = MemoryTransport(self._to_client)
        self.client.feed(get("/"))
        self._to_engine = ClientConnection(Pool())
        self.engine = MemoryTransport(self._to_engine)
        self._to_engine.send(self, b"", b"")

    def feed(self, *pieces: bytes) -> None:
        """The engine's bytes, all at one time: tokens after the first ones wait for the end."""
        with MemoryNetwork(lambda: 0.0).running():
            self.engine.feed(*pieces)

    # The client's side.

    def check_head(self, _: HttpRequest, __: object) -> HeadCheck:
        return ANY_BODY

    def handle(self, request: HttpRequest, connection: ServerConnection) -> "Passage":
        return self

    def refuse(self, error: HeterodyneError, connection: ServerConnection) -> None: ...
    def client_gone(self) -> None: ...
    def client_slow(self) -> None: ...
    def client_ready(self) -> None: ...

    # The engine's side.

    def on_head(self, status: int, headers: dict[bytes, bytes]) -> None:
        self.relay = StreamRelay(self._to_client, self, lambda: 0.0, wants_usage=self._wants_usage, edit=self._edit)
        self._to_engine.listener = self.relay

    def on_framed(self, data: bytes, chunks: int) -> None: ...
    def on_payload(self, data: bytes) -> None: ...
    def on_end(self) -> None: ...
    def on_failure(self, error: EngineError) -> None: ...

    def stream_begins(self) -> None: ...
    def stream_complete(self) -> None:
        self.ends.append("complete")
        self._to_client.finish_stream()

    def stream_broken(self, error: EngineError) -> None:
        self.ends.append(error.code)
        self._to_engine.listener = None


def event(word: str) -> bytes:
    return msgspec.json.encode({"choices": [{"index": 0, "delta": {"content": word}}]})


@bounded
@given(st.data(), words, separators, st.booleans())
def test_chunks_joined_equal_the_whole_answer(
    data: st.DataObject, said: list[str], separator: bytes, wants_usage: bool
) -> None:
    events = [*map(event, said), USAGE, b"[DONE]"]
    body = b"".join(b"data: " + one + separator for one in events)
    framed = b"".join(chunk(piece) for piece in data.draw(splits(body))) + CHUNKS_END
    passage = Passage(wants_usage=wants_usage)
    passage.feed(*data.draw(splits(HEAD + framed)))
    decoder = ChunkDecoder()
    received = decoder.feed(passage.client.written)
    wanted = [one for one in events if wants_usage or one != USAGE]
    assert received == b"".join(b"data: " + one + b"\n\n" for one in wanted)
    assert decoder.is_ended
    assert passage.ends == ["complete"]
    assert passage.relay is not None
    assert passage.relay.usage is not None
    assert passage.relay.usage.completion_tokens == 3


@bounded
@given(st.data(), words)
def test_a_stream_cut_short_anywhere_is_never_complete(data: st.DataObject, said: list[str]) -> None:
    body = b"".join(b"data: " + one + b"\n\n" for one in [*map(event, said), USAGE, b"[DONE]"])
    whole = HEAD + b"".join(chunk(piece) for piece in data.draw(splits(body))) + CHUNKS_END
    cut = whole[: data.draw(st.integers(len(HEAD), len(whole) - 1))]
    passage = Passage(wants_usage=True)
    passage.feed(*data.draw(splits(cut)))
    passage.engine.lose()
    assert passage.ends == ["engine_broke"]
    decoder = ChunkDecoder()
    received = decoder.feed(passage.client.written)
    assert body.startswith(received)
    assert not decoder.is_ended


@bounded
@given(st.data(), st.binary(min_size=1, max_size=300))
def test_no_bytes_of_an_engine_raise_or_end_twice(data: st.DataObject, noise: bytes) -> None:
    passage = Passage(wants_usage=False)
    passage.feed(*data.draw(splits(HEAD + noise)))
    passage.engine.lose()
    assert len(passage.ends) == 1
