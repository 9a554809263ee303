"""Many clients at once who want whole answers and streams, count how each ended, and do not always stay to the end."""

import asyncio
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress

from msgspec import Struct, field

from tests.soak.faulty_fleet import TOKENS, WORD
from tests.support.raw_client import Answer, connected
from tests.support.requests import chat

LEAVING_SHARE = 0.15
STREAM_SHARE = 0.5
LOST_PATIENCE_S = 0.05
REQUESTS = {is_stream: chat(stream=is_stream) for is_stream in (False, True)}


class Ends(Struct):
    """How the requests ended as clients saw it."""

    whole: int = 0  # every word, once
    error_events: int = 0  # streams that began and ended in an error
    left: int = 0  # by a client who did not wait
    refused: Counter[int] = field(default_factory=Counter)  # error answers by status
    ids: list[str] = []  # of every request whose answer began, as the gateway names it

    @property
    def count(self) -> int:
        return self.whole + self.error_events + self.left + self.refused.total()


async def load_faults(port: int, requests: int, *, clients: int, seed: int, ends: Ends | None = None) -> Ends:
    """Send so many requests, adding to `ends`; raises for an answer that is neither whole nor a proper error."""
    ends, numbers = ends or Ends(), iter(range(requests))
    await asyncio.gather(*(_client(port, numbers, ends, random.Random(seed + i)) for i in range(clients)))
    return ends


async def _client(port: int, numbers: Iterator[int], ends: Ends, moods: random.Random) -> None:
    """One connection after another, each kept until its client leaves in the middle of a request."""
    is_over = False
    while not is_over:
        async with connected(port) as client:
            is_over = True
            for _ in numbers:
                is_stream = moods.random() < STREAM_SHARE
                await client.send(REQUESTS[is_stream])
                if moods.random() < LEAVING_SHARE:
                    with suppress(TimeoutError):
                        async with asyncio.timeout(moods.random() * LOST_PATIENCE_S):
                            await client.reader.read(1)
                    if moods.random() < 0.5:
                        client.leave()
                    ends.left += 1
                    is_over = False
                    break
                _note(ends, await client.answer(), is_stream)


def _note(ends: Ends, answer: Answer, is_stream: bool) -> None:
    ends.ids.append(answer.headers["x-request-id"])
    if answer.status != 200:
        assert answer.error["message"]
        ends.refused[answer.status] += 1
    elif not is_stream:
        assert answer.json["choices"][0]["message"]["content"] == WORD * TOKENS
        ends.whole += 1
    elif b'data: {"error"' in answer.body:
        ends.error_events += 1
    else:
        assert answer.body.endswith(b"data: [DONE]\n\n")
        assert answer.text == WORD * TOKENS
        ends.whole += 1
