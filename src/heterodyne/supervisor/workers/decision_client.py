"""Asks the workers about decisions, through the sockets in the run folder."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import msgspec

from heterodyne.concurrency.deadline import deadline
from heterodyne.console.errors import NoWorkerAnswers
from heterodyne.domain.errors import HeterodyneError, UnknownName
from heterodyne.domain.record import RequestRecord
from heterodyne.gateway.guards.hits import HitsAsked, HitsSeen
from heterodyne.routing.explanation.explanation import Explanation, PastDecision
from heterodyne.routing.explanation.question import Question
from heterodyne.supervisor.workers.decision_messages import LINE_BYTES_MAX, DecisionQuery, DecisionReply
from heterodyne.supervisor.workers.decision_server import socket_path

TIMEOUT_S = 3.0  # of one worker

_decode = msgspec.json.Decoder(DecisionReply).decode


class DecisionClient:
    """One per supervisor."""

    def __init__(self, run_dir: Path, workers: Callable[[], Iterable[str]]) -> None:
        self._run_dir = run_dir
        self._workers = workers

    async def explain(self, question: Question) -> Explanation:
        """By the first worker that answers."""
        for worker in self._workers():
            answer = await self._try_query(worker, DecisionQuery(explain=question))
            if answer is not None:
                assert answer.explain is not None
                return answer.explain
        raise _no_worker()

    async def decision(self, request_id: str) -> PastDecision:
        """By the worker that took it."""
        unknown: HeterodyneError | None = None
        for worker in self._workers():
            try:
                answer = await self._try_query(worker, DecisionQuery(decision=request_id))
            except UnknownName as error:
                unknown = error
                continue
            if answer is not None:
                assert answer.decision is not None
                return answer.decision
        raise unknown or _no_worker()

    async def decisions(self, limit: int) -> tuple[RequestRecord, ...]:
        """Of all workers together, the newest first."""
        question = DecisionQuery(decisions=limit)
        answers = [await self._try_query(worker, question) for worker in self._workers()]
        if not any(answers):
            raise _no_worker()
        records = [record for answer in answers if answer is not None for record in answer.decisions or ()]
        return tuple(sorted(records, key=lambda record: -record.at)[:limit])

    async def hits(self, asked: Mapping[str, HitsAsked]) -> dict[str, HitsSeen]:
        """What policies have found since, by worker; of those that answer."""
        found = {}
        for worker in self._workers():
            answer = await self._try_query(worker, DecisionQuery(hits=asked.get(worker, HitsAsked())))
            if answer is not None and answer.hits is not None:
                found[worker] = answer.hits
        return found

    async def _try_query(self, worker: str, question: DecisionQuery) -> DecisionReply | None:
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


def _no_worker() -> NoWorkerAnswers:
    return NoWorkerAnswers("No worker answers: they may be starting, or busy. Try again in a moment.", retry_after_s=1)
