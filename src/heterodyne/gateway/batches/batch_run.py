"""One worker's part of one batch: pieces that it has taken, lines of them that are asked, results that it writes."""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Final, NamedTuple

from msgspec import DecodeError

from heterodyne.batches.notice import WorkNotice
from heterodyne.batches.pace import PAUSE_S, LineOrder
from heterodyne.batches.result_words import WORDS, LineAnswer
from heterodyne.batches.work_folder import Piece, WorkFolder, WorkLine, result_line
from heterodyne.gateway.stored.inner_call import KEPT_IN_FILE, KEY_ID, InnerAnswer, InnerCall
from heterodyne.telemetry import log, metrics
from heterodyne.telemetry.trouble import Trouble
from heterodyne.wire.message import HttpRequest

LINES_HELD_MAX: Final = 8192  # in pieces that are taken
TRIES_MAX: Final = 5  # of a line whose engines fail
LOOK_AGAIN_S: Final = 1.0  # for a piece, where others have all there are
PAUSE_MAX_S: Final = 15.0
NO_ROOM: Final = 503  # no fault of the line, nor of an engine
LIMITED: Final = 429
CUT_OFF: Final = 0  # by nobody here: too large for what a line's answer may take, or lost with its connection
AGAIN: Final = frozenset({CUT_OFF, 408, 500, 502, 504})
CUT_OFF_CODE: Final = "answer_cut_off"
CUT_OFF_MESSAGE: Final = "The answer to this request was cut off each time; it may be too large."

Ask = Callable[[HttpRequest, Callable[[InnerAnswer], None]], InnerCall]

_log = log.get("batches")


class LineTask:
    """One line, until it has a result."""

    __slots__ = ("line", "piece", "tries")

    def __init__(self, piece: "TakenPiece", line: WorkLine) -> None:
        self.piece = piece
        self.line = line
        self.tries = 0


class TakenPiece:
    """A piece, and how many of its lines have no result."""

    __slots__ = ("left", "piece")

    def __init__(self, piece: Piece) -> None:
        self.piece = piece
        self.left = len(piece.left)


class LineResult(NamedTuple):
    """What is to be written of one line."""

    task: LineTask
    told: bytes
    is_answer: bool


class BatchRun:
    """Asks lines when it is told to; never waits itself."""

    def __init__(
        self, notice: WorkNotice, ask: Ask, clock: Callable[[], float], wake: Callable[[], None], longest_s: float
    ) -> None:
        self.notice = notice
        self._folder = WorkFolder(Path(notice.work_folder))
        self._ask = ask
        self._clock = clock
        self._wake = wake
        self._words = WORDS[notice.api]
        self._headers = {
            b"host": b"localhost",
            b"content-type": b"application/json",
            b"x-heterodyne-class": b"batch",
            b"x-heterodyne-deadline-ms": b"%d" % (longest_s * 1000),
            KEY_ID: notice.key.encode(),
            KEPT_IN_FILE: b"",
        }
        self._order: LineOrder[LineTask] = LineOrder()
        self._calls: dict[LineTask, InnerCall] = {}
        # Those that the disk did not take. They are paid for: no line is asked before they are written.
        self._unwritten: deque[LineResult] = deque()
        self._disk = Trouble(_log, "result_not_written", clock=clock, batch=notice.batch)
        self._taken: set[TakenPiece] = set()
        self._works: set[asyncio.Task[None]] = set()  # pieces being taken or finished
        self._is_taking = False
        self._look_at_s = 0.0
        self._pause_until_s = 0.0
        self._is_stopped = False

    @property
    def in_flight(self) -> int:
        """Lines that are asked now."""
        return len(self._calls)

    def may_ask(self) -> bool:
        """Whether there is a line, and no reason to wait; where few are left, more are taken in the meantime."""
        now_s = self._clock()
        is_low = self._order.is_low and sum(taken.left for taken in self._taken) < LINES_HELD_MAX
        if is_low and not self._is_taking and now_s >= self._look_at_s:
            self._is_taking = True
            self._start(self._take())
        if now_s < self._pause_until_s:
            return False
        self._write_all()
        return bool(self._order) and not self._unwritten

    def ask_next(self) -> None:
        """Ask one line; its result is written when it comes."""
        task = self._order.take()
        http = HttpRequest(
            method=b"POST",
            path=self.notice.endpoint.encode(),
            query=b"",
            headers=self._headers,
            keep_alive=False,
            speaks_chunked=True,
        )
        http.body = bytes(task.line.body)
        ended = False

        def end(answer: InnerAnswer) -> None:
            nonlocal ended
            ended = True
            self._calls.pop(task, None)
            self._end(task, answer)

        call = self._ask(http, end)
        if not ended:
            self._calls[task] = call

    async def stop(self) -> None:
        """Nothing more is asked; what is asked is cut off, and pieces are let go."""
        self._is_stopped = True
        for call in tuple(self._calls.values()):
            call.abort()
        self._write_all()
        if self._unwritten:
            _log.error("results_lost", batch=self.notice.batch, lines=len(self._unwritten))
        if self._works:
            await asyncio.wait(tuple(self._works))
        for taken in self._taken:
            taken.piece.close()
        self._taken.clear()
        self._order.clear()

    def _end(self, task: LineTask, answer: InnerAnswer) -> None:
        """Called as the answer ends, before the books have it: a result that is written is never paid for twice."""
        self._wake()
        if self._is_stopped and answer.status == CUT_OFF:
            return
        if answer.status == LIMITED:
            self._again(task, answer.retry_after_s)
        elif answer.status == NO_ROOM:
            self._again(task, PAUSE_S)
        elif answer.status in AGAIN and task.tries < TRIES_MAX:
            task.tries += 1
            self._again(task, answer.retry_after_s)
        else:
            self._write(task, answer)

    def _write(self, task: LineTask, answer: InnerAnswer) -> None:
        is_answer, words, custom_id = answer.status == 200, self._words, task.line.custom_id
        if answer.status == CUT_OFF:
            told = words.unsent(custom_id, CUT_OFF_CODE, CUT_OFF_MESSAGE)
        else:
            told = words.answered(custom_id, LineAnswer(answer.status, answer.request_id, answer.body))
        told = result_line(task.line.number, told, is_answer=is_answer, request_id=answer.request_id)
        self._unwritten.append(LineResult(task, told, is_answer))
        self._write_all()

    def _write_all(self) -> None:
        """As many results as the disk takes; the others are tried again after a pause for all."""
        while self._unwritten:
            task, told, is_answer = self._unwritten[0]
            taken = task.piece
            try:
                taken.piece.write(told)
            except OSError as error:  # a full disk, above all
                self._disk.failed(error)
                self._pause(PAUSE_MAX_S)
                return
            self._unwritten.popleft()
            metrics.batch_lines.add(("answered" if is_answer else "failed",))
            self._order.end(task)
            taken.left -= 1
            if not taken.left:
                self._start(self._finish(taken))
        self._disk.worked()

    def _again(self, task: LineTask, pause_s: float | None = None) -> None:
        """Ask it again, after a pause for all."""
        self._order.again(task)
        self._pause(PAUSE_S if pause_s is None else min(max(PAUSE_S, pause_s), PAUSE_MAX_S))

    def _pause(self, pause_s: float) -> None:
        self._pause_until_s = max(self._pause_until_s, self._clock() + pause_s)

    def _start(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._works.add(task)
        task.add_done_callback(self._works.discard)

    async def _take(self) -> None:
        """The first piece that nobody has."""
        try:
            piece = await asyncio.to_thread(_take_first, self._folder)
        except (OSError, DecodeError) as error:
            _log.error("piece_not_taken", batch=self.notice.batch, error=str(error))
            piece = None
        finally:
            self._is_taking = False
        if piece is None:
            self._look_at_s = self._clock() + LOOK_AGAIN_S
            return
        if self._is_stopped:
            piece.close()
            return
        taken = TakenPiece(piece)
        self._taken.add(taken)
        self._order.add((LineTask(taken, line), line.follows) for line in piece.left)
        if not taken.left:
            await self._finish(taken)
        self._wake()

    async def _finish(self, taken: TakenPiece) -> None:
        try:
            await asyncio.to_thread(taken.piece.finish)
        except OSError as error:  # its lines are done; whoever takes it next finds that, and tries again
            _log.error("piece_not_finished", batch=self.notice.batch, error=str(error))
            taken.piece.close()
            self._look_at_s = self._clock() + LOOK_AGAIN_S
        self._taken.discard(taken)


def _take_first(folder: WorkFolder) -> Piece | None:
    for name in folder.pieces():
        piece = folder.try_take(name)
        if piece is not None:
            return piece
    return None
