"""Replays visits on a gateway in real time: each leaves at its moment, whatever became of those before it."""

import asyncio
import gc
import time
from collections.abc import Sequence
from random import Random

import msgspec
from msgspec import Struct

from heterodyne.bench.client import Client
from heterodyne.bench.endpoint import Endpoint, parse_endpoint
from heterodyne.bench.failure import ExchangeFailed
from heterodyne.bench.response_reader import StreamResponseReader
from heterodyne.domain.operation import Operation
from heterodyne.emulator.tokenizer import PIECE_BYTES
from heterodyne.simulator.workload import SimulatedRequest

OUTPUT_TOKENS_MAX = 1024  # what every request allows: more than any of the trace has, so that it tells nothing
TIMEOUT_S = 120.0
LETTERS = "abcdefghijklmnopqrstuvwxyz     "


class Reply(Struct, frozen=True, kw_only=True):
    """One whole answer, as a client saw it."""

    ttft_s: float  # from when it was meant to be sent
    itl_s: float  # the mean between two of its tokens
    prompt_tokens: int
    output_tokens: int
    late_s: float  # that it was sent after it was meant to be


async def replay(url: str, model: str, arrivals: Sequence[SimulatedRequest]) -> tuple[list[Reply], list[str]]:
    """Whole answers, and what became of the rest."""
    endpoint = parse_endpoint(url)
    requests = [_request(endpoint, model, arrival) for arrival in arrivals]
    client = Client(endpoint, clock=time.perf_counter)
    replies: list[Reply] = []
    failures: list[str] = []

    async def ask(request: bytes, meant_at_s: float) -> None:
        answer, late_s = StreamResponseReader(), time.perf_counter() - meant_at_s
        try:
            await client.exchange(request, answer, timeout_s=TIMEOUT_S)
        except ExchangeFailed as failed:
            failures.append(f"{failed.failure}: {failed.detail}")
            return
        first_s, last_s = answer.content_at_s[0], answer.content_at_s[-1]
        tokens = answer.usage.completion_tokens if answer.usage else 0
        replies.append(
            Reply(
                ttft_s=first_s - meant_at_s,
                itl_s=(last_s - first_s) / max(1, tokens - 1),
                prompt_tokens=answer.usage.prompt_tokens if answer.usage else 0,
                output_tokens=tokens,
                late_s=late_s,
            )
        )

    gc.collect()
    gc.freeze()  # a walk through tens of megabytes of prompts would hold up answers
    begin_s = time.perf_counter() + 1.0
    try:
        async with asyncio.TaskGroup() as tasks:
            for arrival, request in zip(arrivals, requests, strict=True):
                await _sleep_until(begin_s + arrival.at_s)
                tasks.create_task(ask(request, begin_s + arrival.at_s))
    finally:
        gc.unfreeze()
        client.close()
    return replies, failures


async def _sleep_until(at_s: float) -> None:
    # The loop's timers know whole milliseconds only; the last one is passed by yielding.
    while (left_s := at_s - time.perf_counter()) > 0:
        await asyncio.sleep(left_s - 0.0015 if left_s > 0.002 else 0)


def _request(endpoint: Endpoint, model: str, arrival: SimulatedRequest) -> bytes:
    """As many tokens as the trace says, by the emulator's rule, and begun like no other prompt."""
    words = Random(arrival.number).choices(LETTERS, k=PIECE_BYTES * arrival.prompt_tokens)
    prompt = f"{arrival.number:08d} {''.join(words)}"[: PIECE_BYTES * arrival.prompt_tokens]
    body = {
        "model": model,
        "prompt": prompt,
        "max_tokens": OUTPUT_TOKENS_MAX,
        "min_tokens": arrival.output_tokens,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    return endpoint.post(Operation.COMPLETION, msgspec.json.encode(body))
