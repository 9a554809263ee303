"""Asks the workers about decisions, through the sockets in the run folder."""

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from heterodyne.assembly.worker_question import LINE_BYTES_MAX, WorkerAnswer, WorkerQuestion
from heterodyne.assembly.worker_socket import socket_path
from heterodyne.concurrency.deadline import deadline
from heterodyne.console.errors import NobodyAnswers
from heterodyne.domain.errors import HeterodyneError, UnknownName
from heterodyne.domain.record import RequestRecord
from heterodyne.routing.explanation import Explanation, PastDecision
from heterodyne.routing.question import Question

TIMEOUT_S = 3.0  # of one worker

_decode = msgspec.json.Decoder(WorkerAnswer).decode


class WorkerAnswers:
    """One per supervisor."""

    def __init__(self, run_dir: Path, workers: Callable[[], Iterable[str]]) -> None:
        self._run_dir = run_dir
        self._workers = workers

    async def explain(self, question: Question) -> Explanation:
        """By the first worker that answers."""
        for worker in self._workers():
            answer = await self._try_ask(worker, WorkerQuestion(explain=question))
            if answer is not None:
                assert answer.explain is not None
                return answer.explain
        raise _nobody()

    async def decision(self, request_id: str) -> PastDecision:
        """By the worker that took it."""
        unknown: HeterodyneError | None = None
        for worker in self._workers():
            try:
                answer = await self._try_ask(worker, WorkerQuestion(decision=request_id))
            except UnknownName as error:
                unknown = error
                continue
            if answer is not None:
                assert answer.decision is not None
                return answer.decision
        raise unknown or _nobody()

    async def decisions(self, limit: int) -> tuple[RequestRecord, ...]:
        """Of all workers together, the newest first."""
        question = WorkerQuestion(decisions=limit)
        answers = [await self._try_ask(worker, question) for worker in self._workers()]
        if not any(answers):
            raise _nobody()
        records = [record for answer in answers if answer is not None for record in answer.decisions or ()]
        return tuple(sorted(records, key=lambda record: -record.at)[:limit])

    async def _try_ask(self, worker: str, question: WorkerQuestion) -> WorkerAnswer | None:
        """None: the worker does not answer. Raises what it raised."""
        writer: asyncio.StreamWriter | None = None
        try:
            async with deadline(TIMEOUT_S):
                path = str(socket_path(self._run_dir, worker))
                reader, writer = await asyncio.open_unix_connection(path, limit=LINE_BYTES_MAX)
                writer.write(msgspec.json.encode(question) + b"\n")
                answer = _decode(await reader.readline())
        except (TimeoutError, OSError, ValueError):  # not there, too slow, or cut short
            return None
        finally:
            if writer is not None:
                writer.close()
        if answer.failure is not None:
            raise answer.failure.as_error()
        return answer


def _nobody() -> NobodyAnswers:
    return NobodyAnswers("No worker answers: they may be starting, or busy. Try again in a moment.", retry_after_s=1)
