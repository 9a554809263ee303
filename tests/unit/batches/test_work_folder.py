"""Pieces are held by one process at a time, and what was cut short is as if it had not been begun."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from msgspec import Raw

from heterodyne.batches.work_folder import WorkFolder, WorkLine, WorkPlan, result_line, results_in


def folder_of(path: Path, lines: int = 3) -> WorkFolder:
    folder = WorkFolder(path / "work")
    folder.open()
    folder.write_piece(0, [WorkLine(number, f"r-{number}", Raw(b"{}")) for number in range(1, lines + 1)])
    return folder


def test_a_piece_is_held_by_one_at_a_time(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    piece = folder.try_take("000000")
    assert piece is not None
    assert folder.is_worked_on()
    assert folder.try_take("000000") is None
    piece.close()
    assert not folder.is_worked_on()
    again = folder.try_take("000000")
    assert again is not None
    again.close()


def test_who_takes_a_piece_again_sees_what_is_left(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    with folder.try_take("000000") as piece:  # type: ignore[union-attr]
        piece.write(result_line(2, b'{"a":1}', is_answer=True, request_id="req_1"))
    with (folder.path / "000000.results").open("ab") as file:
        file.write(b'+3 {"cut sho')
    with folder.try_take("000000") as piece:  # type: ignore[union-attr]
        assert [line.number for line in piece.left] == [1, 3]
        piece.write(result_line(1, b'{"b":2}', is_answer=False))
    content = (folder.path / "000000.results").read_bytes()
    assert content == b'+2@req_1 {"a":1}\n-1@ {"b":2}\n'
    told = [(one.number, one.request_id, one.is_answer) for one in results_in(content)]
    assert told == [(2, b"req_1", True), (1, b"", False)]


def test_a_piece_that_is_done_is_gone(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    piece = folder.try_take("000000")
    assert piece is not None
    piece.finish()
    assert folder.pieces() == []
    assert folder.try_take("000000") is None


def test_a_killed_process_holds_nothing(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    code = (
        "import sys, time; from pathlib import Path; from heterodyne.batches.work_folder import *; "
        "piece = WorkFolder(Path(sys.argv[1])).try_take('000000'); print('held', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(folder.path)], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"held\n"
        assert folder.try_take("000000") is None
        os.kill(child.pid, signal.SIGKILL)
        child.wait(10)
    piece = folder.try_take("000000")
    assert piece is not None
    piece.close()


def test_a_plan_counts_once_it_is_whole_and_until_the_machine_starts_anew(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    assert folder.try_plan() is None
    folder.write_plan(WorkPlan(lines=3, problems=0))
    plan = folder.try_plan()
    assert plan is not None
    assert (plan.lines, plan.problems) == (3, 0)
    (folder.path / "plan").write_bytes(b'{"lines":3,"problems":0,"boot":"another"}')
    assert folder.try_plan() is None
    (folder.path / "plan").write_bytes(b'{"lin')
    assert folder.try_plan() is None
