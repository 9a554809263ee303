"""Step machines on the round chip, small enough that a test can count their blocks."""

from heterodyne.physics.profile import FirstToken, Profile, ProfileKey
from heterodyne.physics.replica.job import Job, Scheduling
from heterodyne.physics.replica.machine import ReplicaMachine
from heterodyne.physics.replica.step import EngineStep, StepResult
from heterodyne.physics.replica.step_clock import StepClock
from tests.support.physics import IDEAL, placement

AT_ONCE = Profile(
    key=ProfileKey(), prices=IDEAL, first_token=FirstToken(prompt=1.0, queue=0.0, fixed_s=0.0)
)  # nothing stands before the scheduler


def machine(profile: Profile = AT_ONCE, **scheduling: int | bool) -> ReplicaMachine:
    """A machine with a hundred blocks of sixteen tokens, unless said otherwise."""
    plan = {"slots": 8, "step_tokens": 256, "blocks": 100, **scheduling}
    return ReplicaMachine(StepClock(placement(), profile), Scheduling(**plan))  # type: ignore[arg-type]


def job(number: int, prompt: int = 100, output: int = 10, blocks: tuple[int, ...] = ()) -> Job:
    """A job of round size."""
    return Job(id=number, prompt_tokens=prompt, output_tokens=output, blocks=blocks)


def one_step(replica: ReplicaMachine, now_s: float = 0.0) -> tuple[EngineStep, StepResult]:
    """Begin and finish."""
    step = replica.begin(now_s)
    assert step is not None
    return step, replica.finish(names_decoded=True)


def run_dry(replica: ReplicaMachine, now_s: float = 0.0) -> list[tuple[float, StepResult]]:
    """Every step until nothing is left, with the time it ended."""
    ended = []
    while (step := replica.begin(now_s)) is not None:
        now_s = step.ends_at_s
        ended.append((now_s, replica.finish(names_decoded=True)))
    return ended
