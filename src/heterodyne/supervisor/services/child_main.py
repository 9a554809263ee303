"""The child's side of `child_call`: reads one order, answers it, and leaves when its parent is gone."""

import os
import sys
import threading
from collections.abc import Callable
from typing import TypeVar

import msgspec

from heterodyne.domain.errors import HeterodyneError
from heterodyne.supervisor.line_reader import LineReader
from heterodyne.supervisor.services.child_call import ChildResult

NICENESS = 10  # what serves goes first
ABANDONED = 3  # the exit code of a child whose parent is gone

T = TypeVar("T")


def run_once(kind: type[T], work: Callable[[T], object]) -> None:
    """One order of this kind."""
    os.nice(NICENESS)
    lines = LineReader()
    line = lines.try_next()
    if line is None:
        return
    threading.Thread(target=_leave_with_parent, args=(lines,), daemon=True).start()
    try:
        order = msgspec.json.decode(line, type=kind)
        answer = ChildResult(answer=msgspec.Raw(msgspec.json.encode(work(order))))
    except HeterodyneError as error:
        answer = ChildResult(error_code=error.code, message=error.message)
    sys.stdout.buffer.write(msgspec.json.encode(answer))
    sys.stdout.buffer.flush()


def _leave_with_parent(lines: LineReader) -> None:
    while lines.try_next() is not None:
        pass
    os._exit(ABANDONED)
