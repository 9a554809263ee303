"""A worker's share of batches: lines are let go where a batch is over, and ended where the worker is."""

import asyncio
import errno
import os
import shutil
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw

from heterodyne.batches.notice import FOLDER, Notices, WorkNotice
from heterodyne.batches.work_folder import WorkFolder, WorkLine, results_in
from heterodyne.concurrency.deadline import deadline
from heterodyne.gateway.batches.batch_run import TRIES_MAX
from heterodyne.gateway.batches.runner import BatchRunner
from heterodyne.gateway.stored.inner_call import InnerAnswer
from heterodyne.wire.message import HttpRequest

BATCH = "batch_1"


class Asked:
    """Lines that are asked; one that is cut off ends without an answer."""

    def __init__(self) -> None:
        self.cut_off = 0
        self.ends: list[Callable[[InnerAnswer], None]] = []

    def __call__(self, http: HttpRequest, ended: Callable[[InnerAnswer], None]) -> Any:
        self.ends.append(ended)
        return self

    def abort(self) -> None:
        self.cut_off += 1


class FullDisk:
    """Takes nothing."""

    def __init__(self) -> None:
        self.tries = 0

    def pwrite(self, *_: object) -> int:
        self.tries += 1
        raise OSError(errno.ENOSPC, "No space left on device")


class Running:
    """A runner of one batch with one line, which is asked."""

    def __init__(self, folder: Path) -> None:
        self.asked = Asked()
        self.is_draining = False
        self.work = WorkFolder(folder / "work")
        self.work.open()
        self.work.write_piece(0, [WorkLine(1, "r-1", Raw(b"{}"))])
        self.notices = Notices(folder)
        self.notices.put(
            WorkNotice(
                batch=BATCH,
                project="a",
                key="k",
                api="openai",
                endpoint="/v1/chat/completions",
                work_folder=str(self.work.path),
            )
        )
        self.looks = 0
        self._runner = BatchRunner(
            folder,
            self.asked,
            waiting=lambda _: 0,
            is_draining=self._drains,
            longest_s=60.0,
            clock=map(float, count()).__next__,  # each turn looks at which batches there are
        )

    def _drains(self) -> bool:
        self.looks += 1
        return self.is_draining

    async def until(self, is_true: Callable[[], bool]) -> None:
        async with deadline(10.0):
            while not is_true():
                await asyncio.sleep(0.005)

    async def __aenter__(self) -> "Running":
        self._task = asyncio.create_task(self._runner.run())
        await self.until(lambda: bool(self.asked.ends))
        return self

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await self._task


async def test_a_batch_that_is_over_has_its_lines_cut_off(tmp_path: Path) -> None:
    async with Running(tmp_path) as running:
        running.notices.remove(BATCH)
        await running.until(lambda: running.asked.cut_off == 1)


async def test_a_worker_that_drains_ends_its_lines_though_the_next_supervisor_swept_the_notices(tmp_path: Path) -> None:
    async with Running(tmp_path) as running:
        running.is_draining = True
        running.notices.remove(BATCH)
        looks = running.looks
        await running.until(lambda: running.looks > looks + 3)
        assert not running.asked.cut_off
        running.asked.ends[0](InnerAnswer(200, b"{}", "req_1"))
        await running.until(lambda: not running.work.pieces())
        (results,) = running.work.results()
        assert [one.request_id for one in results_in(results.read_bytes())] == [b"req_1"]


@pytest.mark.parametrize("is_file", [False, True])
async def test_lines_go_on_where_nobody_can_say_which_batches_there_are(tmp_path: Path, is_file: bool) -> None:
    async with Running(tmp_path) as running:
        shutil.rmtree(tmp_path / FOLDER)
        if is_file:
            (tmp_path / FOLDER).touch()
        looks = running.looks
        await running.until(lambda: running.looks > looks + 3)
        assert not running.asked.cut_off
        (tmp_path / FOLDER).unlink(missing_ok=True)
        running.notices.remove(BATCH)
        await running.until(lambda: running.asked.cut_off == 1)


async def test_a_line_whose_answer_is_cut_off_each_time_ends_with_an_error_that_says_so(tmp_path: Path) -> None:
    async with Running(tmp_path) as running:
        for asked in range(1, TRIES_MAX + 2):
            await running.until(lambda asked=asked: len(running.asked.ends) == asked)  # type: ignore[misc]
            running.asked.ends[-1](InnerAnswer(0, b""))
        await running.until(lambda: not running.work.pieces())
        (results,) = running.work.results()
        assert b"answer_cut_off" in results.read_bytes()
        assert len(running.asked.ends) == TRIES_MAX + 1


async def test_a_result_that_the_disk_did_not_take_is_written_later_and_its_line_not_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Running(tmp_path) as running:
        with monkeypatch.context() as patched:
            disk = FullDisk()
            patched.setattr(os, "pwrite", disk.pwrite)
            running.asked.ends[0](InnerAnswer(200, b"{}", "req_1"))
            await running.until(lambda: disk.tries > 2)
        await running.until(lambda: not running.work.pieces())
        assert len(running.asked.ends) == 1
        (results,) = running.work.results()
        assert [one.request_id for one in results_in(results.read_bytes())] == [b"req_1"]


async def test_a_result_that_the_disk_did_not_take_is_tried_once_more_as_the_worker_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Running(tmp_path) as running:
        running.is_draining = True
        with monkeypatch.context() as patched:
            patched.setattr(os, "pwrite", FullDisk().pwrite)
            running.asked.ends[0](InnerAnswer(200, b"{}", "req_1"))
    (results,) = running.work.results()
    assert [one.request_id for one in results_in(results.read_bytes())] == [b"req_1"]
    assert not running.work.is_worked_on()
