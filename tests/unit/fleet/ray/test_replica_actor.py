"""The actor around an engine, without Ray: it is an object whose calls answer at once."""

import os
import signal
import sys
import time
from collections.abc import Callable

import pytest

from heterodyne.fleet.ray import replica_actor
from heterodyne.fleet.ray.replica_actor import ReplicaActor
from tests.support.driver_bench import SERVER

WAIT_S = 30.0
PLACE = ("127.0.0.1", "node-a")


def actor(*words: str, start_timeout_s: float = 20.0) -> ReplicaActor:
    return ReplicaActor(
        words, "/", start_timeout_s=start_timeout_s, stop_timeout_s=5.0, asked_at_s=time.time(), place=PLACE
    )


def when(one: ReplicaActor, is_so: Callable[[dict[str, object]], object]) -> dict[str, object]:
    end_s = time.monotonic() + WAIT_S
    while not is_so(said := one.state()):
        assert time.monotonic() < end_s, said
        time.sleep(0.02)
    return said


def test_an_engine_is_ready_when_its_health_page_says_so_and_ends_when_it_is_told_to() -> None:
    one = actor("{python}", "-S", "-c", SERVER, "{port}")
    said = when(one, lambda said: said["ready_at_s"] is not None)
    assert (said["host"], said["node"], said["problem"]) == (*PLACE, None)
    one.stop()
    when(one, lambda said: said["ready_at_s"] is None)


def test_an_engine_that_dies_is_started_again_and_that_is_another_start() -> None:
    one = actor("{python}", "-S", "-c", SERVER, "{port}")
    before = when(one, lambda said: said["ready_at_s"] is not None)
    assert one._command is not None
    os.kill(one._command.pid, signal.SIGKILL)
    after = when(one, lambda said: said["ready_at_s"] not in {None, before["ready_at_s"]})
    assert float(str(after["asked_at_s"])) > float(str(before["ready_at_s"]))
    one.stop()


def test_an_engine_that_never_starts_is_told_with_its_last_words() -> None:
    one = actor(sys.executable, "-c", "import sys; sys.exit('no such model')", "{port}")
    said = when(one, lambda said: said["problem"] is not None)
    assert str(said["problem"]).startswith("its engine has ended 1 times; it said last: no such model")
    one.stop()


def test_a_command_that_is_not_there_is_named() -> None:
    one = actor("no-such-engine", "{port}")
    assert "no-such-engine: No such file" in str(when(one, lambda said: said["problem"])["problem"])
    one.stop()


def test_an_engine_that_is_not_ready_in_time_is_begun_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replica_actor, "PAUSE_FIRST_S", 60.0)
    one = actor("{python}", "-c", "import time; time.sleep(60)", "{port}", start_timeout_s=0.2)
    assert "not ready after 0 s" in str(when(one, lambda said: said["problem"])["problem"])
    one.stop()
