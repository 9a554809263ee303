"""What an emulated engine has done, in the form its metrics page wants: totals and distributions."""

from collections import Counter, deque

from msgspec import Struct

from heterodyne.physics.replica.job import Job
from heterodyne.physics.replica.step import EngineStep, StepResult
from heterodyne.telemetry.exposition import cumulative
from heterodyne.telemetry.meters import add_to_histogram

# The bounds vLLM and TensorRT-LLM have in common.
FIRST_TOKEN_S = (
    *(0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0, 20.0, 40.0, 80.0),
    *(160.0, 640.0, 2560.0),
)
NEXT_TOKEN_S = (
    *(0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0, 20.0, 40.0, 80.0),
)
REQUEST_S = (
    *(0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 2.5, 5.0, 10.0, 15.0, 20.0, 30.0, 40.0, 50.0, 60.0, 120.0, 240.0, 480.0, 960.0),
    *(1920.0, 7680.0),
)
TOKENS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000)
STEP_TOKENS = (1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384)
ANSWERS = (1, 2, 5, 10, 20)
LIVES_MAX = 1000


class EmulatedHistogram:
    """A histogram over fixed bounds."""

    __slots__ = ("_cell", "bounds")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds = bounds
        self._cell = [0.0] * (len(bounds) + 2)

    def observe(self, value: float) -> None:
        """One more."""
        add_to_histogram(self._cell, self.bounds, value)

    @property
    def sum(self) -> float:
        """Of all values."""
        return self._cell[-1]

    def buckets(self) -> list[tuple[str, float]]:
        """Cumulative counts by upper bound, the last without one."""
        return cumulative(self.bounds, self._cell[:-1])


class Life(Struct, kw_only=True, gc=False):
    """One sequence from its arrival on, in the replica's seconds."""

    job_id: int
    prompt_tokens: int
    arrived_at_s: float
    last_token_at_s: float
    cached_tokens: int = 0
    tokens: int = 0  # of the answer
    admitted_at_s: float | None = None  # None: it waits for its first turn
    first_token_at_s: float | None = None


class Observations:
    """Since the engine started; times in the replica's own seconds."""

    def __init__(self) -> None:
        self.ttft_s = EmulatedHistogram(FIRST_TOKEN_S)
        self.itl_s = EmulatedHistogram(NEXT_TOKEN_S)
        self.e2e_s = EmulatedHistogram(REQUEST_S)
        self.queue_s = EmulatedHistogram(REQUEST_S)
        self.prefill_s = EmulatedHistogram(REQUEST_S)
        self.decode_s = EmulatedHistogram(REQUEST_S)
        self.running_s = EmulatedHistogram(REQUEST_S)
        self.per_token_s = EmulatedHistogram(NEXT_TOKEN_S)  # of a request, the mean after its first token
        self.prompt_tokens = EmulatedHistogram(TOKENS)
        self.computed_tokens = EmulatedHistogram(TOKENS)  # of prompts, those not found in memory
        self.output_tokens = EmulatedHistogram(TOKENS)
        self.limit_tokens = EmulatedHistogram(TOKENS)
        self.answers = EmulatedHistogram(ANSWERS)  # that a request asks for
        self.step_tokens = EmulatedHistogram(STEP_TOKENS)
        self.finished: Counter[str] = Counter()  # by finish reason, aborts among them
        self.busy = 0  # sequences in the batch, summed over passes
        self.sequence_tokens_max = 0  # the longest sequence that has ended
        self.decode_tokens_per_s = 0.0  # in the last step that decoded
        self.lives: dict[int, Life] = {}  # by job, as long as it is here
        self.lives_over: deque[Life] = deque(maxlen=LIVES_MAX)  # for pages about single requests

    def arrive(self, job: Job, now_s: float, *, cached_tokens: int, limit_tokens: int) -> Life:
        """A sequence begins."""
        life = self.lives[job.id] = Life(
            job_id=job.id,
            prompt_tokens=job.prompt_tokens,
            cached_tokens=cached_tokens,
            arrived_at_s=now_s,
            last_token_at_s=now_s,
        )
        self.prompt_tokens.observe(job.prompt_tokens)
        self.limit_tokens.observe(limit_tokens)
        return life

    def step(self, step: EngineStep, ended: StepResult, now_s: float) -> None:
        """A step took place: requests were admitted, others have a token more."""
        decoded = step.decoding * step.passes
        self.step_tokens.observe(step.prompt_tokens + decoded)
        self.busy += decoded + len(ended.prompted)
        if decoded and step.ends_at_s > step.begins_at_s:
            self.decode_tokens_per_s = decoded / (step.ends_at_s - step.begins_at_s)
        for job_id in step.admitted:
            life = self.lives.get(job_id)
            if life is not None and life.admitted_at_s is None:
                life.admitted_at_s = step.begins_at_s
                self.queue_s.observe(step.begins_at_s - life.arrived_at_s)
        observe_itl = self.itl_s.observe
        for job_id in ended.decoded:
            life = self.lives.get(job_id)
            if life is not None:
                observe_itl(now_s - life.last_token_at_s)
                life.last_token_at_s = now_s
                life.tokens += step.passes
        for job_id in ended.prompted:
            life = self.lives.get(job_id)
            if life is not None:
                self._prompted(life, now_s)

    def finish(self, job_id: int, now_s: float, reason: str) -> None:
        """A sequence is complete."""
        self.finished[reason] += 1
        life = self.lives.pop(job_id)
        self.lives_over.append(life)
        self.sequence_tokens_max = max(self.sequence_tokens_max, life.prompt_tokens + life.tokens)
        self.output_tokens.observe(life.tokens)
        self.e2e_s.observe(now_s - life.arrived_at_s)
        if life.admitted_at_s is not None and life.first_token_at_s is not None:
            self.decode_s.observe(now_s - life.first_token_at_s)
            self.running_s.observe(now_s - life.admitted_at_s)
            if life.tokens > 1:
                self.per_token_s.observe((now_s - life.first_token_at_s) / (life.tokens - 1))

    def abort(self, job_id: int) -> None:
        """A sequence is given up."""
        if self.lives.pop(job_id, None) is not None:
            self.finished["abort"] += 1

    def _prompted(self, life: Life, now_s: float) -> None:
        """The prompt is read and gave a token: the first, or the next after a preemption."""
        if life.first_token_at_s is None:
            life.first_token_at_s = now_s
            self.ttft_s.observe(now_s - life.arrived_at_s)
            self.computed_tokens.observe(life.prompt_tokens - life.cached_tokens)
            if life.admitted_at_s is not None:
                self.prefill_s.observe(now_s - life.admitted_at_s)
        else:
            self.itl_s.observe(now_s - life.last_token_at_s)
        life.last_token_at_s = now_s
        life.tokens += 1
