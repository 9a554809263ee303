"""Asks an engine or a gateway: so many at once, or each at its moment, and times what a client sees."""

import asyncio
import time
from collections.abc import Iterator, Sequence

from msgspec import Struct

from benchmarks.gpu.trace import Ask, body
from heterodyne.bench.client import Client
from heterodyne.bench.endpoint import Endpoint, parse_endpoint
from heterodyne.bench.failure import ExchangeFailed
from heterodyne.bench.response_reader import StreamResponseReader
from heterodyne.domain.operation import Operation

TIMEOUT_S = 120.0


class Target(Struct, frozen=True, kw_only=True):
    """Who is asked, and for what."""

    url: str
    model: str
    words: int  # of the vocabulary
    seed: int


class Reply(Struct, frozen=True, kw_only=True):
    """One whole answer as a client saw it."""

    ttft_s: float  # from when it was meant to be sent
    itl_s: float
    tokens: int
    at_s: float  # when it was sent


class _EngineStream(StreamResponseReader):
    """Some engines end their streams without a mark."""

    def end(self, is_whole: bool) -> None:
        if self.usage is None:
            super().end(is_whole)


async def closed_loop(target: Target, asks: Sequence[Ask], at_once: int) -> tuple[list[Reply], list[str]]:
    """Each of so many clients asks its next as soon as it has its answer."""
    return await _replay(target, asks, at_once)


async def open_loop(target: Target, asks: Sequence[Ask]) -> tuple[list[Reply], list[str]]:
    """Each is sent at its moment, whatever became of those before it."""
    return await _replay(target, asks, None)


async def _replay(target: Target, asks: Sequence[Ask], at_once: int | None) -> tuple[list[Reply], list[str]]:
    endpoint = parse_endpoint(target.url)
    client = Client(endpoint, clock=time.perf_counter)
    replies: list[Reply] = []
    failures: list[str] = []
    made = [(ask, _request(endpoint, target, ask)) for ask in asks]
    began_s = time.perf_counter()

    async def one(ask: Ask, request: bytes) -> None:
        meant_s = time.perf_counter() if at_once else began_s + ask.at_s
        while (left_s := meant_s - time.perf_counter()) > 0:  # timers may wake a little early
            await asyncio.sleep(left_s)
        answer = _EngineStream()
        try:
            await client.exchange(request, answer, timeout_s=TIMEOUT_S)
        except ExchangeFailed as failed:
            failures.append(f"{failed.failure}: {failed.detail}")
            return
        if not answer.content_at_s or answer.usage is None:
            failures.append("an answer without words or without a count")
            return
        first_s, last_s, count = answer.content_at_s[0], answer.content_at_s[-1], answer.usage.completion_tokens
        itl_s = (last_s - first_s) / max(1, count - 1)
        replies.append(Reply(ttft_s=first_s - meant_s, itl_s=itl_s, tokens=count, at_s=meant_s - began_s))

    async def user(left: Iterator[tuple[Ask, bytes]]) -> None:
        for ask, request in left:
            await one(ask, request)

    left = iter(made)
    try:
        async with asyncio.TaskGroup() as tasks:
            if at_once:
                for _ in range(at_once):
                    tasks.create_task(user(left))
            else:
                for ask, request in made:
                    tasks.create_task(one(ask, request))
    finally:
        client.close()
    return replies, failures


def _request(endpoint: Endpoint, target: Target, ask: Ask) -> bytes:
    return endpoint.post(Operation.COMPLETION, body(ask, target.model, target.words, target.seed))
