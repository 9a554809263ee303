"""Asks a child process something that takes a while to work out, so that the supervisor stays quick.

The child gets one line of JSON and answers with one JSON object. It lives no longer than the deadline, than the
caller, or than this process: `child_main` is its side.
"""

import asyncio
import sys
from typing import TypeVar

import msgspec
from msgspec import Struct

from heterodyne.concurrency.deadline import deadline
from heterodyne.concurrency.feed import feed
from heterodyne.domain.errors import (
    DeadlineExceeded,
    HeterodyneError,
    InternalError,
    InvalidSpec,
    PlanImpossible,
    UnknownName,
)

ANSWER_BYTES_MAX = 16 << 20
READ_BYTES = 65536

T = TypeVar("T")

_ERRORS: dict[str, type[HeterodyneError]] = {kind.code: kind for kind in (InvalidSpec, PlanImpossible, UnknownName)}


class ChildResult(Struct, frozen=True, kw_only=True):
    """What a child says last: an answer, or the code and message of an error."""

    answer: msgspec.Raw = msgspec.Raw(b"null")
    error_code: str = ""  # empty: there is an answer
    message: str = ""


async def call_child(module: str, order: Struct, kind: type[T], *, deadline_s: float) -> T:
    """The answer; raises what the child raised, and `DeadlineExceeded` where it is late. No child is left behind."""
    line = msgspec.json.encode(order) + b"\n"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", module, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    try:
        async with deadline(deadline_s):
            output = await _exchange(process, line)
            await process.wait()
    except TimeoutError as error:
        raise DeadlineExceeded(f"It was not worked out within {deadline_s:g} s. Ask for less.") from error
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return _read(output, kind)


async def _exchange(process: asyncio.subprocess.Process, line: bytes) -> bytes:
    """Its end of our pipe stays open until it has answered: that is how it knows that the answer is still wanted."""
    assert process.stdin is not None
    assert process.stdout is not None
    output = bytearray()
    try:
        await feed(process.stdin, line)
        while piece := await process.stdout.read(READ_BYTES):
            output += piece
            if len(output) > ANSWER_BYTES_MAX:
                raise InternalError(f"The answer is longer than {ANSWER_BYTES_MAX} bytes.")
    except ConnectionError as error:
        raise InternalError("The process that works it out has died; the log may say why.") from error
    return bytes(output)


def _read(output: bytes, kind: type[T]) -> T:
    try:
        answer = msgspec.json.decode(output, type=ChildResult)
        if not answer.error_code:
            return msgspec.json.decode(answer.answer, type=kind)
    except msgspec.DecodeError as error:
        raise InternalError("The process that works it out has died; the log may say why.") from error
    raise _ERRORS.get(answer.error_code, InternalError)(answer.message)
