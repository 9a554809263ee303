"""The folder that one batch is worked off in: pieces of its lines, and beside each the results so far.

    00017.lines     a piece: whoever holds its lock works on it; it is deleted when all of its lines have results
    00017.results   one line each, `+17@ID {…}` for an answer and `-17@ID {…}` for an error, in the order in which they
                    came; ID is that of the request, by which the books find what a worker that died had written
    plan            that all pieces are there

A lock ends with its process, however that ends. So a piece of a worker that was killed is free, and who takes it sees
in the results which of its lines are left. A result counts when its line is whole.
"""

import fcntl
import mmap
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple, Self

import msgspec
from msgspec import Raw, Struct, structs

LINES: Final = ".lines"
RESULTS: Final = ".results"
DONE: Final = ".done"  # behind the name of a folder that is done with
PLAN: Final = "plan"
PROBLEMS: Final = "problems"  # the piece of lines that cannot be sent; it has results alone
BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")
ANSWERED, FAILED = b"+"[0], b"-"[0]


class WorkLine(Struct, frozen=True):
    """A line in a piece."""

    number: int
    custom_id: str
    body: Raw
    follows: bool = False  # its prompt begins as that of the line before it in the piece


class WorkPlan(Struct, frozen=True, kw_only=True):
    """What was made of the input."""

    lines: int  # that are not empty
    problems: int  # of them, lines that cannot be sent
    boot: str = ""  # of the machine: pieces are not flushed, so a plan of before is made again, to the same pieces


_encode = msgspec.json.Encoder().encode
_decode_line = msgspec.json.Decoder(WorkLine).decode
_decode_plan = msgspec.json.Decoder(WorkPlan).decode


class WorkFolder:
    """One batch's."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write_piece(self, number: int, lines: Iterable[WorkLine]) -> None:
        """Before the plan is there."""
        self._written(f"{number:06d}{LINES}", b"".join(_encode(line) + b"\n" for line in lines))

    def write_problems(self, results: Iterable[bytes]) -> None:
        """Of lines that cannot be sent."""
        self._written(f"{PROBLEMS}{RESULTS}", b"".join(results))

    def write_plan(self, plan: WorkPlan) -> None:
        """All pieces are there."""
        part = self.path / f"{PLAN}.part"
        part.write_bytes(_encode(structs.replace(plan, boot=_boot())))
        part.rename(self.path / PLAN)

    def try_plan(self) -> WorkPlan | None:
        """None: it is not planned, or not to the end, or the machine may have lost some of it."""
        try:
            plan = _decode_plan((self.path / PLAN).read_bytes())
        except (FileNotFoundError, msgspec.DecodeError):
            return None
        return plan if plan.boot == _boot() else None

    def pieces(self) -> list[str]:
        """Those with lines that have no result, the first ones first."""
        return sorted(path.stem for path in self.path.glob(f"*{LINES}"))

    def results(self) -> list[Path]:
        """All files of results."""
        return sorted(self.path.glob(f"*{RESULTS}"))

    def is_worked_on(self) -> bool:
        """Whether somebody holds a piece."""
        return any(_is_held(self.path / f"{piece}{LINES}") for piece in self.pieces())

    def try_take(self, piece: str) -> "Piece | None":
        """None: somebody has it, or it is done."""
        try:
            return Piece(self.path, piece)
        except (BlockingIOError, FileNotFoundError):
            return None

    def open(self) -> None:
        """Results that are there stay."""
        self.path.mkdir(parents=True, exist_ok=True, mode=0o700)

    def leave(self) -> None:
        """It is done with. Its results stay for a while: the books may not have heard of the last of them."""
        done = self.path.with_name(f"{self.path.name}{DONE}")
        shutil.rmtree(done, ignore_errors=True)  # of an end that was cut short, and came again
        with suppress(FileNotFoundError):
            self.path.rename(done)

    def remove(self) -> None:
        """All of it."""
        shutil.rmtree(self.path, ignore_errors=True)

    def _written(self, name: str, content: bytes) -> None:
        (self.path / name).write_bytes(content)


class Piece:
    """Held by this process from when it is made until it is closed."""

    def __init__(self, folder: Path, name: str) -> None:
        """Raises BlockingIOError where somebody else holds it, FileNotFoundError where it is done."""
        self.name = name
        self._path = folder / f"{name}{LINES}"
        self._lock = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        self._results = -1
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not os.fstat(self._lock).st_nlink:
                raise FileNotFoundError(self._path)  # done between the two steps
            self._results = os.open(folder / f"{name}{RESULTS}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            self._end, done = _whole_results(self._results)
            self.left = [
                line for line in map(_decode_line, self._path.read_bytes().splitlines()) if line.number not in done
            ]
        except BaseException:
            self.close()
            raise

    def write(self, result: bytes) -> None:
        """One more, a whole line. It outlives this process, but not yet the machine."""
        end, view = self._end, memoryview(result)
        while view:
            written = os.pwrite(self._results, view, end)
            end, view = end + written, view[written:]
        self._end = end

    def finish(self) -> None:
        """All of its lines have results. Blocks until they outlive the machine."""
        os.fdatasync(self._results)
        self._path.unlink()
        self.close()

    def close(self) -> None:
        """Somebody may take it, if it is not done."""
        for file in (self._results, self._lock):
            if file >= 0:
                os.close(file)
        self._results = self._lock = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def lines_in(content: bytes) -> Iterator[WorkLine]:
    """Of a piece."""
    return map(_decode_line, content.split(b"\n")[:-1])


class Result(NamedTuple):
    """Where one is."""

    number: int
    request_id: bytes  # empty: nothing was asked
    is_answer: bool
    start: int  # of what is told, in its file
    end: int


def results_in(content: bytes | mmap.mmap) -> Iterator[Result]:
    """Those that are whole, in their order."""
    start = 0
    while (end := content.find(b"\n", start)) >= 0:
        told = content.find(b" ", start, end) + 1
        number, _, request_id = content[start + 1 : told - 1].partition(b"@")
        yield Result(int(number), request_id, content[start] == ANSWERED, told, end + 1)
        start = end + 1


def result_line(number: int, told: bytes, *, is_answer: bool, request_id: str = "") -> bytes:
    """One of them; what is told is JSON in one line."""
    return b"%c%d@%b %b\n" % (ANSWERED if is_answer else FAILED, number, request_id.encode(), told)


def _whole_results(file: int) -> tuple[int, set[int]]:
    """Where the next result goes, and which lines have one; what was cut short is written over."""
    size = os.fstat(file).st_size
    content = os.pread(file, size, 0)
    while len(content) < size and (more := os.pread(file, size - len(content), len(content))):
        content += more
    end, done = 0, set()
    for result in results_in(content):
        end = result.end
        done.add(result.number)
    os.ftruncate(file, end)
    return end, done


def _boot() -> str:
    """Empty where the system does not say."""
    try:
        return BOOT_ID.read_text().strip()
    except OSError:
        return ""


def _is_held(path: Path) -> bool:
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(file)
    return False
