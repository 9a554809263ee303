"""Whatever comes and goes, every job ends once, every token is counted, and memory is neither lost nor overdrawn."""

from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heterodyne.physics.replica.job import Job
from heterodyne.physics.replica.machine import ReplicaMachine
from heterodyne.physics.replica.simulation import simulate_replica
from tests.support.examples import examples
from tests.support.replicas import machine

BLOCKS = 12
sizes = st.tuples(st.integers(1, 120), st.integers(1, 60), st.integers(0, 3))
workloads = st.lists(st.tuples(st.floats(0, 0.01), sizes), min_size=1, max_size=15)
manners = st.fixed_dictionaries(
    {"slots": st.integers(1, 5), "step_tokens": st.integers(8, 128), "mixes_prompts": st.booleans()}
)


def jobs(workload: list[tuple[float, tuple[int, int, int]]], hash_tokens: int = 16) -> list[tuple[float, Job]]:
    """Arrivals in order; jobs of one family begin alike."""
    at_s, made = 0.0, []
    for number, (gap_s, (prompt, output, family)) in enumerate(workload):
        at_s += gap_s
        blocks = tuple(hash((family, place)) for place in range((prompt + output) // hash_tokens))
        made.append((at_s, Job(id=number, prompt_tokens=prompt, output_tokens=output, blocks=blocks)))
    return made


def is_sound(replica: ReplicaMachine) -> bool:
    store = replica.blocks
    return store.private >= 0 and 0 <= store.available <= store.total and store.used <= store.total


@given(workloads, manners)
@settings(max_examples=examples(150), deadline=None)
def test_every_job_ends_once_with_all_its_tokens(
    workload: list[tuple[float, tuple[int, int, int]]], manner: dict[str, int]
) -> None:
    replica = machine(blocks=BLOCKS, **manner)
    arrivals = jobs(workload)
    seen = simulate_replica(replica, arrivals)
    assert sorted(one.job.id for one in seen.timings) == [one.id for _, one in arrivals]
    assert replica.counters.output_tokens == sum(one.output_tokens for _, one in arrivals)
    assert all(one.arrived_at_s < one.first_at_s <= one.finished_at_s for one in seen.timings)
    assert (replica.blocks.used, replica.blocks.private) == (0, 0)


@given(workloads, manners)
@settings(max_examples=examples(100), deadline=None)
def test_leaping_changes_no_time(workload: list[tuple[float, tuple[int, int, int]]], manner: dict[str, int]) -> None:
    arrivals = jobs(workload)
    leaping = {one.job.id: one for one in simulate_replica(machine(blocks=BLOCKS, **manner), arrivals).timings}
    finished = walk(machine(blocks=BLOCKS, **manner), arrivals)
    assert all(abs(leaping[number].finished_at_s - at_s) < 1e-9 for number, at_s in finished.items())


@given(workloads, manners)
@settings(max_examples=examples(200), deadline=None)
def test_a_leap_that_is_cut_ends_where_steps_would_have(
    workload: list[tuple[float, tuple[int, int, int]]], manner: dict[str, int]
) -> None:
    arrivals = jobs(workload)
    finished = walk(machine(blocks=BLOCKS, **manner), arrivals)
    leaping, left = machine(blocks=BLOCKS, **manner), list(arrivals)
    ends_at_s, seen = inf, {}
    while len(seen) < len(arrivals):
        if left and left[0][0] <= ends_at_s:
            at_s, one = left.pop(0)
            leaping.submit(one, at_s)
            step = leaping.cut(leaping.ready_at_s)
            ends_at_s = min(ends_at_s, leaping.ready_at_s) if step is None else step.ends_at_s
            continue
        now_s = ends_at_s
        if leaping.step is not None:
            seen |= dict.fromkeys(leaping.finish().finished, now_s)
        step = leaping.begin(now_s, leap_until_s=inf)
        ends_at_s = leaping.ready_at_s if step is None else step.ends_at_s
        assert is_sound(leaping)
    assert seen == {number: pytest.approx(at_s, abs=1e-9) for number, at_s in finished.items()}


@given(workloads, manners)
@settings(max_examples=examples(100), deadline=None)
def test_a_hash_of_several_blocks_loses_no_memory_and_never_counts_more_than_the_prompt(
    workload: list[tuple[float, tuple[int, int, int]]], manner: dict[str, int]
) -> None:
    replica = machine(blocks=BLOCKS, blocks_per_hash=3, **manner)
    arrivals = jobs(workload, hash_tokens=48)
    for at_s, one in arrivals:
        replica.submit(one, at_s)
    cached: dict[int, int] = {}
    now_s = arrivals[-1][0]
    while (step := replica.begin(now_s, leap_until_s=inf)) is not None:
        now_s = step.ends_at_s
        ended = replica.finish()
        assert is_sound(replica)
        cached |= dict(zip(ended.finished, ended.cached_tokens, strict=True))
    assert all(cached[one.id] % 48 == 0 and cached[one.id] < one.prompt_tokens for _, one in arrivals)
    assert (replica.blocks.used, replica.blocks.private) == (0, 0)


def walk(walking: ReplicaMachine, arrivals: list[tuple[float, Job]]) -> dict[int, float]:
    """When each job ends, pass by pass."""
    now_s, left = 0.0, list(arrivals)
    finished: dict[int, float] = {}
    while len(finished) < len(arrivals):
        while left and left[0][0] <= now_s:
            at_s, one = left.pop(0)
            walking.submit(one, at_s)
        step = walking.begin(now_s)
        assert is_sound(walking)
        if step is None:
            now_s = min([at_s for at_s, _ in left[:1]] + [walking.ready_at_s])
            continue
        now_s = step.ends_at_s
        finished |= dict.fromkeys(walking.finish().finished, now_s)
    return finished


@given(workloads, manners, st.data())
@settings(max_examples=examples(100), deadline=None)
def test_cancelling_anything_at_any_moment_leaves_nothing_behind(
    workload: list[tuple[float, tuple[int, int, int]]], manner: dict[str, int], data: st.DataObject
) -> None:
    replica = machine(blocks=BLOCKS, **manner)
    alive = set()
    for at_s, one in jobs(workload):
        replica.submit(one, at_s)
        alive.add(one.id)
    now_s = 1.0
    while alive:
        step = replica.begin(now_s)
        if data.draw(st.booleans()):
            victim = data.draw(st.sampled_from(sorted(alive)))
            assert replica.cancel(victim)
            alive.discard(victim)
        if step is not None:
            now_s = step.ends_at_s
            alive -= set(replica.finish().finished)
        assert is_sound(replica)
    assert (replica.running, replica.waiting, replica.blocks.used) == (0, 0, 0)
