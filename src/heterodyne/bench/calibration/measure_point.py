"""One point of a calibration on a live endpoint: a closed loop in its stride, bounded in answers and in time."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from msgspec import Struct

from heterodyne.bench.calibration.steady_tally import FAILURES_MAX, SteadyTally
from heterodyne.bench.client import Client
from heterodyne.bench.endpoint import parse_endpoint
from heterodyne.bench.failure import BenchFailure
from heterodyne.bench.lengths import Fixed, Uniform
from heterodyne.bench.load_generator import LoadGenerator
from heterodyne.bench.plan import BenchPlan
from heterodyne.concurrency.deadline import deadline
from heterodyne.domain.operation import Operation
from heterodyne.planning.calibration.calibration import MeasuredPoint
from heterodyne.planning.calibration.points import CalibrationPoint

ANSWERS_ENOUGH = 2  # when the time is over
# Nothing decodes this fast: tokens that come closer together were held back on the way and sent in one piece.
ITL_MIN_S = 2e-5


class CalibrationTarget(Struct, frozen=True, kw_only=True):
    """The endpoint and how it is asked."""

    url: str
    model: str
    api_key: str | None = None
    ca_file: str | None = None
    operation: Operation = Operation.COMPLETION  # no template puts the same words before all prompts
    has_ignore_eos: bool = True  # False: the endpoint refuses the field, so answers end where the model likes
    tokens_per_word: float = 1.0  # of our prompts, as this endpoint counts
    seed: int = 0


class PointMissed(Exception):
    """A point that could not be measured; `failure` is None when answers came and were of no use."""

    def __init__(self, reason: str, *, failure: BenchFailure | None = None) -> None:
        super().__init__(reason)
        self.failure = failure


async def measure_point(
    target: CalibrationTarget, point: CalibrationPoint, *, number: int, limit_s: float, clock: Callable[[], float]
) -> MeasuredPoint:
    """Means over answers whose prompts no other point has; raises `PointMissed`."""
    plan = _plan(target, point, number=number, limit_s=limit_s)
    client = Client(parse_endpoint(plan.url, api_key=plan.api_key, ca_file=plan.ca_file), clock=clock)
    load = LoadGenerator(plan, client, clock, first_index=0)
    load.tally = tally = SteadyTally(answers=point.answers)
    try:
        async with asyncio.TaskGroup() as tasks:
            users = tasks.create_task(load.closed_loop(point.concurrency))
            tasks.create_task(_end(users, tally.is_done, limit_s))
    finally:
        client.close()
    return _measured(point, tally, limit_s)


async def _end(users: "asyncio.Task[None]", is_done: asyncio.Event, limit_s: float) -> None:
    with suppress(TimeoutError):
        async with deadline(limit_s):
            await is_done.wait()
    users.cancel()


def _plan(target: CalibrationTarget, point: CalibrationPoint, *, number: int, limit_s: float) -> BenchPlan:
    output = point.output_tokens
    return BenchPlan(
        url=target.url,
        model=target.model,
        api_key=target.api_key,
        ca_file=target.ca_file,
        operation=target.operation,
        concurrency=point.concurrency,
        duration_s=limit_s,
        prompt_tokens=Fixed(tokens=max(1, round(point.prompt_tokens / target.tokens_per_word))),
        # Answers of one length would march in step, all prompts together and then all tokens.
        output_tokens=Uniform(tokens_min=max(2, output // 2), tokens_max=max(2, output * 3 // 2)),
        ignore_eos=target.has_ignore_eos,
        # An engine that still remembers the prompts of another point, or of the last run, would be measured too fast.
        seed=target.seed + number,
        timeout_s=limit_s,
    )


def _measured(point: CalibrationPoint, tally: SteadyTally, limit_s: float) -> MeasuredPoint:
    is_short = tally.succeeded < ANSWERS_ENOUGH
    if tally.failures and (is_short or tally.failed >= FAILURES_MAX):
        failure = BenchFailure(tally.failures.most_common(1)[0][0])
        raise PointMissed(tally.first_details[failure], failure=failure)
    if is_short:
        raise PointMissed(f"{tally.succeeded} answers in {limit_s:.0f} s", failure=BenchFailure.TIMEOUT)
    tokens = tally.completion_tokens - tally.ttft.count  # those with a token before them
    if tokens <= 0 or tally.itl.sum_s / tokens < ITL_MIN_S:
        raise PointMissed(
            "the tokens of an answer arrive in one piece, so no time between them can be measured; "
            "ask the engine itself, or stop what is in between from buffering"
        )
    return MeasuredPoint(
        point=point,
        prompt_tokens=tally.prompt_tokens / tally.succeeded,
        output_tokens=tally.completion_tokens / tally.succeeded,
        ttft_s=tally.ttft.mean_s(),
        # By tokens, not by events: engines put several tokens into one event, or none where a letter is unfinished.
        itl_s=tally.itl.sum_s / tokens,
        answers=tally.succeeded,
    )
