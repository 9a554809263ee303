"""A connection without a socket."""

import asyncio

from heterodyne.wire.inner_transport import InnerTransport


async def test_what_is_written_is_the_answer_once_it_is_closed() -> None:
    ended: list[bytes] = []
    transport = InnerTransport(asyncio.Protocol(), 5, ended.append)
    transport.write(b"ab")
    transport.write(b"cd")
    transport.close()
    assert (ended, await transport.answer) == ([b"abcd"], b"abcd")


async def test_pieces_are_heard_as_they_come_and_not_kept() -> None:
    heard: list[bytes] = []
    transport = InnerTransport(asyncio.Protocol(), 5, heard=heard.append)
    transport.write(b"ab")
    transport.write(b"cd")
    assert heard == [b"ab", b"cd"]
    transport.write(b"ef")
    assert (heard, transport.is_closing()) == ([b"ab", b"cd"], True), "more than it may be"
    assert await transport.answer == b""
