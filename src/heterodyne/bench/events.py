"""Server-sent events out of a byte stream, and the few fields of each that the benchmark reads."""

import msgspec
from msgspec import Struct

from heterodyne.bench.failure import BenchFailure, ExchangeFailed

EVENT_BYTES_MAX = 4 << 20
DONE = b"[DONE]"


class StreamedUsage(Struct, frozen=True):
    """Tokens as the server counted them."""

    prompt_tokens: int = 0
    completion_tokens: int = 0


class StreamedDelta(Struct, frozen=True):
    """Anything a user would see arrive; `object` where only presence matters."""

    content: object = None
    reasoning_content: object = None
    reasoning: object = None
    tool_calls: object = None


class StreamedChoice(Struct, frozen=True):
    """One choice of a chat chunk (`delta`) or of a completion chunk (`text`)."""

    delta: StreamedDelta | None = None
    text: str | None = None


class StreamedChunk(Struct, frozen=True):
    """One event of a stream, or a whole answer."""

    choices: tuple[StreamedChoice, ...] = ()
    usage: StreamedUsage | None = None
    error: object = None

    def has_content(self) -> bool:
        """Whether a user would see something new."""
        for choice in self.choices:
            delta = choice.delta
            if choice.text or (
                delta is not None and (delta.content or delta.reasoning_content or delta.reasoning or delta.tool_calls)
            ):
                return True
        return False


_DECODE = msgspec.json.Decoder(StreamedChunk).decode


def decode_chunk(data: bytes) -> StreamedChunk:
    """One JSON object of the stream."""
    try:
        return _DECODE(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ExchangeFailed(BenchFailure.GARBAGE, f"{error} in {data[:80]!r}") from error


class EventSplitter:
    """Pieces of bytes in, the data of whole events out; comments and other fields are dropped."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, piece: bytes) -> list[bytes]:
        """The `data` of each event completed by this piece."""
        text = self._rest + piece
        *blocks, self._rest = text.replace(b"\r\n", b"\n").split(b"\n\n")
        if len(self._rest) > EVENT_BYTES_MAX:
            raise ExchangeFailed(BenchFailure.GARBAGE, f"an event over {EVENT_BYTES_MAX} bytes")
        return [data for block in blocks if (data := _data(block))]


def _data(block: bytes) -> bytes:
    if block.startswith(b"data: ") and b"\n" not in block:
        return block[6:]
    lines = (line for line in block.split(b"\n") if line.startswith(b"data:"))
    return b"\n".join(line[5:].removeprefix(b" ") for line in lines)
