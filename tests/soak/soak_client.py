"""Many clients at once, some of whom lose patience."""

import asyncio
import random
from collections.abc import Iterator

from msgspec import Struct

from tests.support.requests import chat

REQUEST = chat(stream=True)
LAST_CHUNK = b"data: [DONE]\n\n\r\n0\r\n\r\n"
CANCELLED_SHARE = 0.2
STAGGER_S = 0.004


class Tally(Struct):
    """What became of the requests."""

    complete: int = 0
    cancelled: int = 0


async def load(port: int, requests: int, *, clients: int, tokens: int, seed: int) -> Tally:
    """Send so many streamed requests; raises when an answer that nobody cancelled is not whole."""
    tally, numbers = Tally(), iter(range(requests))
    await asyncio.gather(*(_client(port, numbers, tally, tokens, random.Random(seed + i)) for i in range(clients)))
    return tally


async def _client(port: int, numbers: Iterator[int], tally: Tally, tokens: int, moods: random.Random) -> None:
    """One connection after another, each kept until a request on it is cancelled."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for _ in numbers:
        writer.write(REQUEST)
        if moods.random() < CANCELLED_SHARE:
            await _lose_patience(reader, moods)
            writer.transport.abort() if moods.random() < 0.5 else writer.close()
            tally.cancelled += 1
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            continue
        answer = await reader.readuntil(LAST_CHUNK)
        assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
        assert answer.count(b'"content":" hello"') == tokens
        tally.complete += 1
    writer.close()


async def _lose_patience(reader: asyncio.StreamReader, moods: random.Random) -> None:
    """Before the answer begins, at its first bytes, or somewhere within."""
    match moods.randrange(3):
        case 0:
            await asyncio.sleep(moods.random() * 0.01)
        case 1:
            await reader.read(1)
        case _:
            await reader.readuntil(b"data: ")
            await asyncio.sleep(moods.random() * 0.01)


async def load_whole(port: int, requests: int, *, clients: int, tokens: int) -> int:
    """Send so many streamed requests, of which nobody cancels any; how many were answered whole. Raises for others."""
    numbers = iter(range(requests))
    return sum(await asyncio.gather(*(_patient_client(port, numbers, tokens, i) for i in range(clients))))


async def _patient_client(port: int, numbers: Iterator[int], tokens: int, place: int) -> int:
    await asyncio.sleep(place * STAGGER_S)  # in step they would all ask in the same moment, and none in between
    whole = 0
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for _ in numbers:
        writer.write(REQUEST)
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 OK\r\n"), head + await reader.read(1000)
        answer = await reader.readuntil(LAST_CHUNK)
        assert answer.count(b'"content":" hello"') == tokens
        whole += 1
    writer.close()
    return whole
