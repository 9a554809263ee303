"""A unix socket in the run folder on which a worker answers what its supervisor asks about decisions and policies.

One line of JSON in, one line out, and the connection is closed. Every process that may open the folder may ask.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Protocol

import msgspec

from heterodyne.concurrency.deadline import deadline
from heterodyne.domain.errors import HeterodyneError, InternalError, InvalidField
from heterodyne.domain.record import RequestRecord
from heterodyne.gateway.guards.hits import GuardHits
from heterodyne.routing.explanation.explanation import Explanation, PastDecision
from heterodyne.routing.explanation.question import Question
from heterodyne.stores.rebinding_listener import rebinding_listener
from heterodyne.supervisor.workers.decision_messages import (
    LINE_BYTES_MAX,
    DecisionFailure,
    DecisionQuery,
    DecisionReply,
)
from heterodyne.telemetry import log

DEADLINE_S = 5.0  # for a question to arrive and its answer to leave
BACKLOG = 16

_log = log.get("assembly")
_decode = msgspec.json.Decoder(DecisionQuery).decode


class DecisionSource(Protocol):
    """Answers from the worker's decisions: the gateway's explainer."""

    def explain(self, question: Question) -> Explanation: ...

    def decision(self, request_id: str) -> PastDecision: ...

    def decisions(self, limit: int) -> tuple[RequestRecord, ...]: ...


def socket_path(run_dir: Path, worker: str) -> Path:
    """Where a worker answers."""
    return run_dir / f"{worker}.ask.sock"


@asynccontextmanager
async def serve_decisions(run_dir: Path, worker: str, knows: DecisionSource, hits: GuardHits) -> AsyncIterator[None]:
    """Answer inside the block. A worker whose folder cannot have a socket serves all the same."""
    path = socket_path(run_dir, worker)
    async with rebinding_listener(
        path, lambda reader, writer: _serve(reader, writer, knows, hits), backlog=BACKLOG, limit=LINE_BYTES_MAX
    ):
        yield


def answer_to(line: bytes, knows: DecisionSource, hits: GuardHits) -> DecisionReply:
    """The answer to one line."""
    try:
        question = _decode(line)
        if question.explain is not None:
            return DecisionReply(explain=knows.explain(question.explain))
        if question.decision is not None:
            return DecisionReply(decision=knows.decision(question.decision))
        if question.hits is not None:
            return DecisionReply(hits=hits.since(question.hits))
        return DecisionReply(decisions=knows.decisions(question.decisions or 0))
    except msgspec.DecodeError as error:
        return _failed(InvalidField(f"{error}."))
    except HeterodyneError as error:
        return _failed(error)
    except Exception as error:  # noqa: BLE001  # the root of a question: our mistake must not cost the worker
        _log.error("question_failed", exc_info=error)
        return _failed(InternalError("An internal error; the log has the details."))


async def _serve(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, knows: DecisionSource, hits: GuardHits
) -> None:
    # A peer that asks too slowly, asks too much or goes away gets no answer, which costs no other.
    with suppress(TimeoutError, OSError, ValueError):
        async with deadline(DEADLINE_S):
            line = await reader.readline()
            if line.endswith(b"\n"):
                writer.write(msgspec.json.encode(answer_to(line, knows, hits)) + b"\n")
                await writer.drain()
    writer.close()


def _failed(error: HeterodyneError) -> DecisionReply:
    return DecisionReply(failure=DecisionFailure(code=error.code, message=error.message, param=error.param))
