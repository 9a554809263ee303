"""How workers and their supervisor speak about leases over a unix socket: a length in four bytes, then msgpack."""

import asyncio

FRAME_BYTES_MAX = 4 * 2**20
LENGTH_BYTES = 4
READ = b"R"  # before a question how far counters have got; a call is an array, which begins otherwise


async def read_frame(reader: asyncio.StreamReader) -> bytes:
    """One frame; raises `IncompleteReadError` at the end of the stream and ValueError when it is too long."""
    length = int.from_bytes(await reader.readexactly(LENGTH_BYTES), "big")
    if length > FRAME_BYTES_MAX:
        raise ValueError(f"a frame of {length} bytes; at most {FRAME_BYTES_MAX} are taken")
    return await reader.readexactly(length)


def frame(body: bytes) -> bytes:
    """The body with its length before it."""
    return len(body).to_bytes(LENGTH_BYTES, "big") + body
