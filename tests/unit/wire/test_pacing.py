"""Much to send: a slice in each turn of the loop, as fast as it is taken."""

import asyncio
import socket

from heterodyne.wire.pacing import SLICE_BYTES, PacedWrite

PIECES = (b"head", b"a" * (3 * SLICE_BYTES + 1), b"b" * 10)


async def connected_pair() -> tuple[asyncio.Transport, socket.socket]:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    theirs.setblocking(False)
    transport, _ = await asyncio.get_running_loop().create_unix_connection(asyncio.Protocol, sock=ours)
    return transport, theirs


async def test_everything_arrives_in_its_order_and_its_end_is_told_once():
    transport, theirs = await connected_pair()
    ended: list[str] = []
    write = PacedWrite(transport, PIECES, lambda: ended.append("done"))
    assert not write.is_done
    got = bytearray()
    while len(got) < sum(map(len, PIECES)):
        got += await asyncio.get_running_loop().sock_recv(theirs, 1 << 20)
    while not write.is_done:
        await asyncio.sleep(0.001)
    assert bytes(got) == b"".join(PIECES)
    assert ended == ["done"]
    transport.close()
    theirs.close()


async def test_others_have_their_turn_between_two_slices():
    transport, theirs = await connected_pair()
    turns = 0

    def turn() -> None:
        nonlocal turns
        turns += 1
        if not write.is_done:
            asyncio.get_running_loop().call_soon(turn)

    write = PacedWrite(transport, PIECES)
    turn()
    got = 0
    while got < sum(map(len, PIECES)):
        got += len(await asyncio.get_running_loop().sock_recv(theirs, 1 << 20))
    assert turns >= 4
    transport.close()
    theirs.close()


async def test_of_a_closed_connection_nothing_more_is_asked():
    transport, theirs = await connected_pair()
    ended: list[str] = []
    write = PacedWrite(transport, (b"a" * (64 * SLICE_BYTES),), lambda: ended.append("done"))
    transport.abort()
    await asyncio.sleep(0.05)
    assert not write.is_done
    assert ended == []
    theirs.close()
