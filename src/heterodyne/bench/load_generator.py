"""Sends requests, on a schedule (open loop) or as answers come (closed loop), and tallies the answers."""

import asyncio
from collections.abc import Callable, Iterator
from itertools import accumulate, count, islice, repeat
from random import Random

import msgspec

from heterodyne.bench.client import Client
from heterodyne.bench.failure import ExchangeFailed
from heterodyne.bench.plan import ArrivalProcess, BenchPlan
from heterodyne.bench.prompts import Prompts
from heterodyne.bench.response_reader import ResponseReader, StreamResponseReader, WholeResponseReader
from heterodyne.bench.tally import BenchTally, ResponseTiming
from heterodyne.domain.operation import Operation


class LoadGenerator:
    """One phase of a run, the warm-up or the measured part; request numbers count from `first_index`."""

    def __init__(self, plan: BenchPlan, client: Client, clock: Callable[[], float], *, first_index: int) -> None:
        self.tally = BenchTally()
        self.clock = clock
        self.start_at_s = self.last_at_s = clock()
        self._plan = plan
        self._client = client
        self._index = first_index
        self._random = Random(f"lengths {plan.seed} {first_index}")  # noqa: S311 - not a secret
        self._prompts = Prompts(seed=plan.seed, shared_prefix_tokens=plan.shared_prefix_tokens)

    async def open_loop(self, rate_requests_per_s: float) -> None:
        """Requests leave when the schedule says, not when earlier answers have come."""
        plan = self._plan
        schedule = arrivals(plan.arrival, rate_requests_per_s, Random(f"arrivals {plan.seed}"))  # noqa: S311
        slots = asyncio.Semaphore(plan.in_flight_max)
        self.start_at_s = self.last_at_s = self.clock()
        async with asyncio.TaskGroup() as tasks:
            for after_s in islice(schedule, plan.requests):
                if plan.duration_s is not None and after_s >= plan.duration_s:
                    break
                prepared = self._prepare()
                meant_at_s = self.start_at_s + after_s
                await self._sleep_until(meant_at_s)
                await slots.acquire()  # not for long: the holder of a slot was meant to go, and times out, earlier
                task = tasks.create_task(self._one(*prepared, meant_at_s=meant_at_s))
                task.add_done_callback(lambda _: slots.release())

    async def closed_loop(
        self, concurrency: int, *, requests: int | None = None, duration_s: float | None = None
    ) -> None:
        """Each of `concurrency` users sends its next request when its answer has come."""
        left = requests
        self.start_at_s = self.last_at_s = self.clock()

        async def user() -> None:
            nonlocal left
            while left is None or left > 0:
                if duration_s is not None and self.clock() - self.start_at_s >= duration_s:
                    return
                if left is not None:
                    left -= 1
                prepared = self._prepare()
                await self._one(*prepared, meant_at_s=self.clock())

        async with asyncio.TaskGroup() as tasks:
            for _ in range(concurrency if left is None else min(concurrency, left)):
                tasks.create_task(user())

    async def _sleep_until(self, at_s: float) -> None:
        # The loop's timers know whole milliseconds only; the last one is passed by yielding, so that a request
        # leaves within microseconds of its time and never before it.
        while (left_s := at_s - self.clock()) > 0:
            await asyncio.sleep(left_s - 0.0015 if left_s > 0.002 else 0)

    def _prepare(self) -> tuple[bytes, int]:
        """The bytes of the next request, and how many prompt tokens it should have."""
        plan = self._plan
        tokens = plan.prompt_tokens.draw(self._random)
        prompt = self._prompts.text(self._index, tokens)
        self._index += 1
        body = request_body(plan, prompt, plan.output_tokens.draw(self._random))
        return self._client.endpoint.post(plan.operation, body), tokens + plan.shared_prefix_tokens

    async def _one(self, request: bytes, prompt_tokens: int, *, meant_at_s: float) -> None:
        """One request from its send to its place in the tally."""
        answer: ResponseReader = StreamResponseReader() if self._plan.wants_stream else WholeResponseReader()
        sent_at_s = self.clock()
        self.tally.sent += 1
        try:
            await self._client.exchange(request, answer, timeout_s=self._plan.timeout_s - (sent_at_s - meant_at_s))
        except ExchangeFailed as failed:
            self.last_at_s = self.clock()
            self.tally.add_failure(failed)
            return
        self.last_at_s = self.clock()
        usage = answer.usage
        self.tally.add(
            ResponseTiming(
                meant_at_s=meant_at_s,
                sent_at_s=sent_at_s,
                content_at_s=answer.content_at_s,
                finished_at_s=self.last_at_s,
                prompt_tokens=usage.prompt_tokens if usage else prompt_tokens,
                completion_tokens=usage.completion_tokens if usage else len(answer.content_at_s),
                is_usage_reported=usage is not None,
            )
        )


def arrivals(kind: ArrivalProcess, rate_requests_per_s: float, random: Random) -> Iterator[float]:
    """When each request of an open-loop run is meant to be sent, in seconds since its start; without end."""
    if kind is ArrivalProcess.CONSTANT:
        yield from (index / rate_requests_per_s for index in count())
    else:
        yield from accumulate(random.expovariate(rate_requests_per_s) for _ in repeat(None))


def request_body(plan: BenchPlan, prompt: str, output_tokens: int) -> bytes:
    """The JSON that an OpenAI client would send, with usage asked for at the end of a stream."""
    body: dict[str, object] = {"model": plan.model}
    if plan.operation is Operation.EMBEDDING:
        body["input"] = prompt
        return msgspec.json.encode(body)
    if plan.operation is Operation.CHAT:
        body["messages"] = [{"role": "user", "content": prompt}]
    else:
        body["prompt"] = prompt
    body["max_tokens"] = output_tokens
    if plan.ignore_eos:
        body["ignore_eos"] = True
    if plan.wants_stream:
        body["stream"] = True
        body["stream_options"] = {"include_usage": True}
    return msgspec.json.encode(body)
