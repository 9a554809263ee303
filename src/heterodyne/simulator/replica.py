"""One replica of the simulation: its machine, when it wants to be woken, and what it tells of itself."""

from collections import deque
from math import inf

from heterodyne.domain.engine_load import EngineLoad
from heterodyne.domain.fleet import Replica
from heterodyne.physics.replica.job import Job
from heterodyne.physics.replica.machine import ReplicaMachine
from heterodyne.physics.replica.step import StepResult
from heterodyne.simulator.kv.replica_kv import ReplicaKv


class SimulatedReplica:
    """Moves when it is given the time. `wake_at_s` is when its step ends, or work is ready for it to begin one."""

    __slots__ = (
        "busy_s",
        "expected",
        "inside_s",
        "kv",
        "listed",
        "machine",
        "number",
        "output_tokens",
        "prompt_tokens",
        "requests",
        "reserved",
        "sequence_tokens_max",
        "token_usd",
        "wake_at_s",
    )

    def __init__(
        self, number: int, listed: Replica, machine: ReplicaMachine, kv: ReplicaKv, *, sequence_tokens_max: int
    ) -> None:
        self.number = number
        self.listed = listed
        self.machine = machine
        self.kv = kv
        self.expected: deque[Job] = deque()  # whose KV is to be brought, when there is memory for it
        self.reserved: list[Job] = []  # of those, the ones that there is memory for since it was last emptied
        self.sequence_tokens_max = sequence_tokens_max
        self.wake_at_s = inf
        self.busy_s = 0.0  # in steps
        self.inside_s = 0.0  # of all its requests together
        self.requests = 0  # that have ended, and their tokens
        self.prompt_tokens = 0
        self.output_tokens = 0
        self.token_usd = 0.0  # what they cost where tokens are paid for

    def submit(self, job: Job, now_s: float) -> None:
        """A request arrives; a leap under way ends where the machine would have seen it."""
        machine = self.machine
        machine.submit(job, now_s)
        step = machine.cut(machine.ready_at_s)
        self.wake_at_s = machine.ready_at_s if step is None else step.ends_at_s

    def expect(self, job: Job, now_s: float) -> None:
        """A job's KV is to be brought; memory is given between two steps."""
        self.expected.append(job)
        step = self.machine.cut(now_s)
        if step is None:
            self.make_room()
        else:
            self.wake_at_s = step.ends_at_s

    def make_room(self) -> None:
        """Memory for those expected, in the order they came, as far as there is any."""
        machine, expected = self.machine, self.expected
        while expected and machine.step is None and machine.try_reserve(expected[0]):
            self.reserved.append(expected.popleft())

    def ask(self, job: Job, tokens: int, now_s: float) -> None:
        """So many tokens of an expected job are there; none: it is like any other."""
        machine = self.machine
        if not machine.arrive(job.id, tokens, now_s):
            if job in self.expected:
                self.expected.remove(job)
            machine.submit(job, now_s)
        step = machine.cut(machine.ready_at_s)
        self.wake_at_s = machine.ready_at_s if step is None else step.ends_at_s

    def wake(self, now_s: float) -> StepResult | None:
        """What the step brought about that ends now, if one does; the next begins."""
        machine = self.machine
        step = machine.step
        ended = None
        if step is not None:
            self.busy_s += now_s - step.begins_at_s
            ended = machine.finish()
            if ended.removed and self.kv.held_by_host is not None:
                self.kv.held_by_host.put(ended.removed, now_s)
        if self.expected:
            self.make_room()
        begun = machine.begin(now_s, leap_until_s=inf)
        self.wake_at_s = machine.ready_at_s if begun is None else begun.ends_at_s
        return ended

    def end(self, prompt_tokens: int, output_tokens: int, cached_tokens: int, inside_s: float) -> None:
        """A request is answered."""
        self.requests += 1
        self.prompt_tokens += prompt_tokens
        self.output_tokens += output_tokens
        self.inside_s += inside_s
        price = self.listed.price
        if price.is_by_token:
            self.token_usd += price.usd(prompt_tokens, output_tokens, 0.0, cached_tokens) or 0.0

    def load(self) -> EngineLoad:
        """What its metrics page says; tokens of a leap are counted when it ends."""
        machine = self.machine
        counters, scheduling = machine.counters, machine.scheduling
        return EngineLoad(
            running=machine.running,
            waiting=machine.waiting,
            kv_share=machine.kv_share,
            kv_tokens=scheduling.kv_tokens,
            block_tokens=scheduling.block_tokens,
            prefix_query_tokens=counters.prompt_tokens,
            prefix_hit_tokens=counters.cached_tokens,
            prompt_tokens=counters.prompt_tokens - counters.cached_tokens,
            output_tokens=counters.output_tokens,
        )
