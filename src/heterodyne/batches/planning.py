"""Makes the pieces of a batch out of its input. Blocks, for seconds where the input is large."""

import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from msgspec import Raw

from heterodyne.batches.batch import Batch, BatchProblem
from heterodyne.batches.lines import LineProblem, read_line
from heterodyne.batches.order import begin_alike, order_key
from heterodyne.batches.result_words import WORDS
from heterodyne.batches.work_folder import WorkFolder, WorkLine, WorkPlan, result_line

PIECE_LINES: Final = 128
PIECE_BYTES: Final = 4 << 20
LINE_BYTES_MAX: Final = 8 << 20
TWICE: Final = "duplicate_custom_id"


class InputUnusable(Exception):  # the batch says so, and fails
    """Not one line of it can be sent."""

    def __init__(self, problem: BatchProblem) -> None:
        super().__init__(problem.message)
        self.problem = problem


def plan_work(batch: Batch, source: Path, folder: WorkFolder, *, lines_max: int) -> tuple[WorkPlan, list[BatchProblem]]:
    """What was planned, and which lines cannot be sent. Raises InputUnusable.

    The same input always makes the same pieces, so that results of before keep their places.
    """
    folder.open()
    if not source.stat().st_size:
        raise InputUnusable(BatchProblem(code="empty_file", message="The input file is empty."))
    with source.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        found, problems, results = _read_all(batch, content, lines_max)
        total = len(found) + len(problems)
        if not total:
            raise InputUnusable(BatchProblem(code="empty_file", message="The input file has no lines."))
        if not found:
            raise InputUnusable(problems[0])
        found.sort()
        for number, piece in enumerate(_pieces(batch, content, found)):
            folder.write_piece(number, piece)
    if results:
        folder.write_problems(results)
    return WorkPlan(lines=total, problems=len(problems)), problems


Found = tuple[bytes, int, int, int]  # key, number of the line, where it starts and ends


def _read_all(batch: Batch, content: mmap.mmap, lines_max: int) -> tuple[list[Found], list[BatchProblem], list[bytes]]:
    found: list[Found] = []
    problems: list[BatchProblem] = []
    results: list[bytes] = []
    seen: set[str] = set()
    words = WORDS[batch.api]
    for number, start, end in _lines(content):
        if len(found) + len(problems) >= lines_max:
            told = f"The input file has more than {lines_max} lines, the limit of a batch."
            raise InputUnusable(BatchProblem(code="too_many_lines", message=told, line=number))
        try:
            if end - start > LINE_BYTES_MAX:
                told = f"Line {number} has {end - start} bytes; the limit is {LINE_BYTES_MAX}."
                raise LineProblem("", BatchProblem(code="line_too_long", message=told, line=number))
            line = read_line(number, content[start:end], batch.endpoint)
            if line.custom_id in seen:
                told = f"Line {number}: custom_id: {line.custom_id[:100]!r} is that of another line, too."
                raise LineProblem("", BatchProblem(code=TWICE, message=told, line=number, param="custom_id"))
            seen.add(line.custom_id)
            found.append((order_key(line), number, start, end))
        except LineProblem as error:
            problems.append(error.problem)
            told_of = words.unsent(error.custom_id, error.problem.code, error.problem.message)
            results.append(result_line(number, told_of, is_answer=False))
    return found, problems, results


def _lines(content: mmap.mmap) -> Iterator[tuple[int, int, int]]:
    """Number, start and end of those that are not empty."""
    start, number, size = 0, 0, len(content)
    while start < size:
        end = content.find(b"\n", start)
        end = size if end < 0 else end
        number += 1
        if content[start : min(end, start + 1024)].strip() or content[start:end].strip():
            yield number, start, end
        start = end + 1


def _pieces(batch: Batch, content: mmap.mmap, found: list[Found]) -> Iterator[list[WorkLine]]:
    piece: list[WorkLine] = []
    size, before = 0, b""
    for key, number, start, end in found:
        line = read_line(number, content[start:end], batch.endpoint)
        follows = bool(piece) and begin_alike(before, key)
        piece.append(WorkLine(number, line.custom_id, Raw(line.body), follows))
        before = key
        size += end - start
        if len(piece) >= PIECE_LINES or size >= PIECE_BYTES:
            yield piece
            piece, size = [], 0
    if piece:
        yield piece
