"""One job on its way through a replica."""

from heterodyne.physics.replica.job import Job


class Sequence:
    """What the step machine remembers of a job; only the machine changes it."""

    __slots__ = (
        "cached_tokens",
        "done_tokens",
        "is_admitted",
        "is_gone",
        "job",
        "joined_at",
        "leaves_at",
        "prefill_tokens",
        "shared",
        "written_tokens",
    )

    def __init__(self, job: Job) -> None:
        self.job = job
        self.prefill_tokens = job.prompt_tokens  # to compute before the next token: after a preemption the answer too
        self.written_tokens = 0  # of the answer, when it last joined the decoding ones
        self.done_tokens = 0  # of the prefill
        self.cached_tokens = -1  # of the prompt, found in memory when it was first admitted; below zero: not yet
        self.shared = 0  # leading blocks that others may use too
        self.joined_at = 0  # pass after which it decodes
        self.leaves_at = 0  # pass that gives its last token; 0: it is not decoding
        self.is_admitted = False  # it holds memory
        self.is_gone = False  # cancelled

    def tokens_held(self, now: int) -> int:
        """Tokens in KV memory after this pass, or that room was made for."""
        return self.prefill_tokens + (now - self.joined_at if self.leaves_at else 0)

    def join(self, now: int) -> None:
        """The prompt is computed and has given a token; decode from the next pass on."""
        self.joined_at = now
        self.leaves_at = now + self.job.output_tokens - self.written_tokens

    def restart(self, now: int) -> None:
        """Its memory is gone: everything known so far is its prompt now."""
        self.written_tokens += now - self.joined_at
        self.prefill_tokens = self.job.prompt_tokens + self.written_tokens
        self.done_tokens = 0
        self.leaves_at = 0
