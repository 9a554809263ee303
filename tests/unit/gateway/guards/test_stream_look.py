"""What becomes of a stream where what was to be judged beside the loop was judged, failed, or nobody wants it."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from heterodyne.domain.errors import EngineGarbage, InternalError
from heterodyne.gateway.guards.stream import StreamLook
from heterodyne.gateway.offload.job import CheckAnswer, Checked, Result, failure_of
from heterodyne.safety.guarded import NOTHING_FOUND
from heterodyne.safety.request_guard import RequestGuard
from heterodyne.safety.settings import GuardSettings
from tests.support.guards import plan
from tests.unit.safety.inspection.test_streams import event, long_call

CALLS = {
    "calls": GuardSettings(guard="tool_calls", action="block", roots_allowed=("/work",)),
    "private": GuardSettings(guard="pii", action="mask"),
}


class Asked:
    """In the place of the process beside the worker; each job waits for a test to end it."""

    def __init__(self) -> None:
        self.jobs: list[CheckAnswer] = []
        self.dones: list[Callable[[Result, bytes], None]] = []

    def submit(self, job: CheckAnswer, body: Sequence[bytes], owner: bytes, done: Any) -> "Asked":
        self.jobs.append(job)
        self.dones.append(done)
        return self

    def cancel(self) -> None:
        raise AssertionError("nobody has left")


class Guarded:
    """A request, as far as a look at its stream knows it."""

    id = "req_1"

    def __init__(self) -> None:
        self.guard = RequestGuard(plan(CALLS), lambda _: None)


def at_its_end(offload: Asked) -> StreamLook:
    """A look at a stream with a long call that has ended."""
    request: Any = Guarded()
    asks: Any = offload
    look = StreamLook(request.guard.stream_guard(1, ""), request, asks, b"salt")
    for one in (*long_call("/work/a"), event(finish="tool_calls")):
        look(one)
        while look.owes and look.try_ask(lambda: None) is None:
            look.more()
    return look


def test_policies_of_calls_alone_are_asked() -> None:
    offload = Asked()
    look = at_its_end(offload)
    assert look.owes
    assert [[name for name, _ in job.policies] for job in offload.jobs] == [["calls"]]
    offload.dones[0](Checked(guarded=NOTHING_FOUND, is_same=True), b"")
    made = look.more()
    assert not look.owes
    assert b'"tool_calls"' in made[0]


def test_a_call_that_could_not_be_judged_is_not_told() -> None:
    offload = Asked()
    look = at_its_end(offload)
    offload.dones[0](failure_of(InternalError("The process died.")), b"")
    with pytest.raises(EngineGarbage, match="as policies ask"):
        look.more()
