"""Questions to a child process: answered, refused, late, abandoned."""

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from heterodyne.domain.errors import DeadlineExceeded, InternalError, PlanImpossible
from heterodyne.supervisor.services.child_call import call_child
from heterodyne.supervisor.services.child_main import ABANDONED
from tests.support.stuck_child import Order

CHILD = "tests.support.stuck_child"
WITHIN_S = 20.0


def children() -> list[str]:
    """Those of this process that live."""
    said = subprocess.run(["ps", "-o", "ppid=,stat=,args=", "-e"], capture_output=True, text=True, check=True).stdout
    rows = [line.split(maxsplit=2) for line in said.splitlines()]
    return [row[2] for row in rows if row[0] == str(os.getpid()) and CHILD in row[2] and "Z" not in row[1]]


async def wait_for(file: Path) -> None:
    async with asyncio.timeout(WITHIN_S):
        while not file.exists():
            await asyncio.sleep(0.02)


async def test_an_answer_comes_back_as_what_it_is() -> None:
    assert await call_child(CHILD, Order(mood="fine"), str, deadline_s=WITHIN_S) == "fine"


async def test_what_the_child_refuses_is_raised_here() -> None:
    with pytest.raises(PlanImpossible, match="nobody can"):
        await call_child(CHILD, Order(mood="refuses"), str, deadline_s=WITHIN_S)


async def test_a_child_that_dies_is_an_error_of_ours() -> None:
    with pytest.raises(InternalError, match="has died"):
        await call_child(CHILD, Order(mood="dies"), str, deadline_s=WITHIN_S)


async def test_a_child_that_is_late_is_ended(tmp_path: Path) -> None:
    order = Order(mood="sleeps", file=str(tmp_path / "begun"))
    with pytest.raises(DeadlineExceeded, match="within 2 s"):
        await call_child(CHILD, order, str, deadline_s=2.0)
    assert children() == []


async def test_a_child_that_nobody_waits_for_is_ended(tmp_path: Path) -> None:
    order = Order(mood="sleeps", file=str(tmp_path / "begun"))
    asking = asyncio.create_task(call_child(CHILD, order, str, deadline_s=60.0))
    await wait_for(tmp_path / "begun")
    assert len(children()) == 1
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert children() == []


def test_a_child_leaves_with_its_parent(tmp_path: Path) -> None:
    command = [sys.executable, "-m", CHILD]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as child:
        assert child.stdin is not None
        child.stdin.write(b'{"mood":"sleeps","file":"%s"}\n' % bytes(tmp_path / "begun"))
        child.stdin.flush()
        until_s = time.monotonic() + WITHIN_S
        while not (tmp_path / "begun").exists():
            assert time.monotonic() < until_s
            time.sleep(0.02)
        child.stdin.close()
        assert child.wait(WITHIN_S) == ABANDONED
