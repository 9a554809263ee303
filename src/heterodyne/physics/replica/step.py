"""What the step machine plans, what comes of it, and its totals."""

from msgspec import Struct

from heterodyne.physics.replica.job import Job


class EngineStep(Struct, frozen=True, kw_only=True, gc=False):
    """One pass through the model, or several equal ones in a row."""

    begins_at_s: float
    ends_at_s: float
    passes: int
    decoding: int  # sequences that get a token from each pass
    prompt_tokens: int
    admitted: tuple[int, ...] = ()  # jobs that join the batch with it, for the first time or again


class StoredBlocks(Struct, frozen=True, kw_only=True, gc=False):
    """Blocks of a job that others may share from now on."""

    job: Job
    indices: tuple[int, ...]  # into its blocks


class StepResult(Struct, frozen=True, kw_only=True, gc=False):
    """What a step brought about; jobs that decode and are not named go on."""

    decoded: tuple[int, ...]  # jobs that got a token from each pass; filled only when it is asked for
    # Jobs whose prompt is complete and gave a token: the first, or the next after a preemption.
    prompted: tuple[int, ...]
    finished: tuple[int, ...]
    cached_tokens: tuple[int, ...]  # of each finished one's prompt, found in memory when it was first admitted
    preempted: tuple[int, ...]  # lost their memory before the step and wait again
    stored: tuple[StoredBlocks, ...]
    removed: tuple[int, ...]  # hashes of blocks that are gone


class Counters(Struct, kw_only=True):
    """Totals since the machine was made."""

    prompt_tokens: int = 0
    cached_tokens: int = 0  # of those, found in memory
    output_tokens: int = 0
    preemptions: int = 0
    finished: int = 0
    passes: int = 0
