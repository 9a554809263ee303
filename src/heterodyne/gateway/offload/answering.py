"""An engine's whole answer becomes the client's: in the loop where it is short, beside the worker where it is long."""

from collections.abc import Callable
from typing import Final

from heterodyne.domain.errors import EngineGarbage, HeterodyneError
from heterodyne.domain.fleet import Replica
from heterodyne.domain.request import Request, Usage
from heterodyne.gateway import usage
from heterodyne.gateway.offload.job import AnswerRead, JobFailed, ReadAnswer, Result, error_of, fields_of
from heterodyne.gateway.offload.process import Offload, PendingJob
from heterodyne.ports.engine import EngineDialect
from heterodyne.ports.engine_request import EngineRequest

ANSWER_BYTES_LARGE: Final = 64 * 1024


class TranslatedAnswer:
    """What the client gets, in as many pieces as it came in, and what the engine counted."""

    __slots__ = ("is_error", "pieces", "size", "usage")

    def __init__(self, pieces: list[bytes], reported: Usage | None, *, is_error: bool) -> None:
        self.pieces = pieces
        self.size = total_bytes(pieces)
        self.usage = reported
        self.is_error = is_error


def total_bytes(pieces: list[bytes]) -> int:
    """Of nearly every answer there is one piece, so that no iterator is worth its making."""
    found = 0
    for piece in pieces:
        found += len(piece)
    return found


def whole_answer(
    dialect: EngineDialect, request: Request, replica: Replica, body: bytes
) -> TranslatedAnswer | EngineRequest:
    """The answer, or the next call it takes to get there."""
    answer = dialect.answer(request, replica, body)
    if isinstance(answer, EngineRequest):
        return answer
    try:
        reported, is_error = usage.of_answer(answer)
    except (ValueError, RecursionError) as error:
        raise EngineGarbage("The engine's answer is not JSON.") from error
    return TranslatedAnswer([answer], reported, is_error=is_error)


def answer_beside(
    offload: Offload,
    request: Request,
    replica: Replica,
    pieces: list[bytes],
    *,
    owner: bytes,
    done: Callable[[TranslatedAnswer | EngineRequest | HeterodyneError], None],
) -> PendingJob:
    """The same, told later; `pieces` are not put together in the worker."""

    def on_result(result: Result, made: bytes) -> None:
        if isinstance(result, JobFailed):
            done(error_of(result))
            return
        assert isinstance(result, AnswerRead)
        if result.next_path is not None:
            done(EngineRequest(result.next_path, made))
        else:
            reported = None if result.usage is None else Usage(**result.usage)
            done(TranslatedAnswer(pieces if result.is_same else [made], reported, is_error=result.is_error))

    return offload.submit(ReadAnswer(request=fields_of(request), replica=replica), pieces, owner, on_result)
