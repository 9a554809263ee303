"""Asks an overrun gateway at given moments, whatever became of earlier requests, and notes what each one was told."""

import asyncio
import re
import time
from collections.abc import Sequence
from random import Random

import msgspec
from msgspec import Struct

from benchmarks.overload.fleet import MODEL
from heterodyne.bench.client import Client
from heterodyne.bench.endpoint import Endpoint, parse_endpoint
from heterodyne.bench.failure import ExchangeFailed
from heterodyne.bench.response_reader import DETAIL_BYTES_MAX, StreamResponseReader, WholeResponseReader
from heterodyne.domain.operation import Operation
from heterodyne.domain.urgency import Tier
from heterodyne.emulator.tokenizer import PIECE_BYTES

OUTPUT_TOKENS_MAX = 256  # what every request allows: more than any has, so that it tells nothing
PROMPT_TOKENS, OUTPUT_TOKENS = (100, 500), (20, 100)  # drawn evenly from these
TIMEOUT_S = 30.0
POLL_S = 0.25
LETTERS = "abcdefghijklmnopqrstuvwxyz     "
DEPTH = re.compile(rb"^heterodyne_admission_queue_depth\{[^}]*\} (\S+)$", re.MULTILINE)
LOST = "lost"  # no whole answer, and no refusal either


class TimedRequest(Struct, frozen=True, kw_only=True):
    """One request to come."""

    number: int
    at_s: float
    tier: Tier
    prompt_tokens: int
    output_tokens: int


class ReplayedRequest(Struct, frozen=True, kw_only=True):
    """What became of one, as its client saw it; times are from when it was meant to be sent."""

    at_s: float
    tier: Tier
    late_s: float  # that it was sent after that
    refused: str = ""  # the reason's code; empty: it was answered
    told_s: float  # until the first token, or the refusal
    itl_s: float = 0.0  # the mean between two tokens


class Replay(Struct, frozen=True, kw_only=True):
    """All of them, and the longest queue that the gateway's metrics showed meanwhile."""

    told: list[ReplayedRequest]
    depth_max: int


def arrivals(rate: float, seconds: float, shares: dict[Tier, float], seed: str) -> list[TimedRequest]:
    """Poisson, the tiers drawn by their shares."""
    chance, at_s = Random(seed), 0.0
    timed_requests: list[TimedRequest] = []
    while (at_s := at_s + chance.expovariate(rate)) < seconds:
        timed_requests.append(_timed_request(chance, len(timed_requests), at_s, shares))
    return timed_requests


async def replay(url: str, keys: dict[Tier, str], timed_requests: Sequence[TimedRequest]) -> Replay:
    """Until the last one has been answered."""
    endpoints = {tier: parse_endpoint(url, api_key=secret) for tier, secret in keys.items()}
    requests = [_request(endpoints[timed_request.tier], timed_request) for timed_request in timed_requests]
    client = Client(parse_endpoint(url), clock=time.perf_counter)
    told: list[ReplayedRequest] = []
    begin_s = time.perf_counter() + 0.5
    watch = asyncio.get_running_loop().create_task(_watch(url))
    try:
        async with asyncio.TaskGroup() as tasks:
            for timed_request, request in zip(timed_requests, requests, strict=True):
                await _sleep_until(begin_s + timed_request.at_s)
                tasks.create_task(_ask(client, request, timed_request, begin_s + timed_request.at_s, told))
    finally:
        watch.cancel()
        client.close()
    depths = (await asyncio.gather(watch, return_exceptions=True))[0]
    return Replay(told=told, depth_max=depths if isinstance(depths, int) else -1)


async def flood(url: str, clients: int, seconds: float, seed: str) -> float:
    """Answers a second of one engine that always has this many requests, not counting the first of each client."""
    endpoint, chance = parse_endpoint(url), Random(seed)
    ends: list[float] = []
    client = Client(endpoint, clock=time.perf_counter)
    until_s = time.perf_counter() + seconds

    async def go_on(number: int) -> None:
        is_first = True
        while time.perf_counter() < until_s:
            timed_request = _timed_request(chance, number, 0.0, {Tier.SILVER: 1.0})
            await client.exchange(_request(endpoint, timed_request), StreamResponseReader(), timeout_s=TIMEOUT_S)
            if not is_first:
                ends.append(time.perf_counter())
            is_first = False

    async with asyncio.TaskGroup() as tasks:
        for number in range(clients):
            tasks.create_task(go_on(number))
    client.close()
    within = sorted(end_s for end_s in ends if end_s <= until_s)
    return (len(within) - 1) / (within[-1] - within[0])


async def _ask(
    client: Client, request: bytes, timed_request: TimedRequest, meant_at_s: float, told: list[ReplayedRequest]
) -> None:
    answer, late_s = _RefusableAnswer(), time.perf_counter() - meant_at_s
    refused = ""
    try:
        await client.exchange(request, answer, timeout_s=TIMEOUT_S)
    except ExchangeFailed:
        refused = answer.code or LOST
    now_s = time.perf_counter()
    came_s, itl_s = now_s, 0.0
    if not refused:
        came_s, last_s = answer.content_at_s[0], answer.content_at_s[-1]
        itl_s = (last_s - came_s) / max(1, timed_request.output_tokens - 1)
    told.append(
        ReplayedRequest(
            at_s=timed_request.at_s,
            tier=timed_request.tier,
            late_s=late_s,
            refused=refused,
            told_s=came_s - meant_at_s,
            itl_s=itl_s,
        )
    )


class _RefusableAnswer(StreamResponseReader):
    """Keeps a refusal's code."""

    def __init__(self) -> None:
        super().__init__()
        self.code = ""
        self._body = bytearray()

    def data(self, piece: bytes, now_s: float) -> None:
        if len(self._body) < DETAIL_BYTES_MAX:
            self._body += piece
        super().data(piece, now_s)

    def end(self, is_whole: bool) -> None:
        try:
            super().end(is_whole)
        except ExchangeFailed:
            try:
                self.code = msgspec.json.decode(bytes(self._body))["error"]["code"]
            except (msgspec.DecodeError, KeyError, TypeError):
                self.code = ""
            raise


async def _watch(url: str) -> int:
    """The longest queue seen until cancelled."""
    endpoint = parse_endpoint(f"{url}/metrics")
    client = Client(endpoint, clock=time.perf_counter)
    deepest = 0
    try:
        while True:
            page = _Page()
            await client.exchange(endpoint.get(""), page, timeout_s=TIMEOUT_S)
            deepest = max([deepest, *(int(float(depth)) for depth in DEPTH.findall(bytes(page.body)))])
            await asyncio.sleep(POLL_S)
    except asyncio.CancelledError:
        return deepest
    finally:
        client.close()


class _Page(WholeResponseReader):
    """Text, whatever it says."""

    def end(self, is_whole: bool) -> None:
        """Read by whoever asked for it."""


async def _sleep_until(at_s: float) -> None:
    # The loop's timers know whole milliseconds only; the last one is passed by yielding.
    while (left_s := at_s - time.perf_counter()) > 0:
        await asyncio.sleep(left_s - 0.0015 if left_s > 0.002 else 0)


def _timed_request(chance: Random, number: int, at_s: float, shares: dict[Tier, float]) -> TimedRequest:
    return TimedRequest(
        number=number,
        at_s=at_s,
        tier=chance.choices(list(shares), list(shares.values()))[0],
        prompt_tokens=chance.randint(*PROMPT_TOKENS),
        output_tokens=chance.randint(*OUTPUT_TOKENS),
    )


def _request(endpoint: Endpoint, timed_request: TimedRequest) -> bytes:
    """As many tokens as it says, by the emulator's rule, and begun like no other prompt."""
    chance = Random(f"{timed_request.number} {timed_request.at_s} {timed_request.prompt_tokens}")
    prompt = "".join(chance.choices(LETTERS, k=PIECE_BYTES * timed_request.prompt_tokens))
    body = {
        "model": MODEL,
        "prompt": prompt,
        "max_tokens": OUTPUT_TOKENS_MAX,
        "min_tokens": timed_request.output_tokens,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    return endpoint.post(Operation.COMPLETION, msgspec.json.encode(body))
