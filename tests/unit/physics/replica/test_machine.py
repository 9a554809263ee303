"""Continuous batching, chunked prompts, shared prefixes, preemption: one step at a time."""

from math import inf

import pytest

from heterodyne.physics.profile import FirstToken, Profile, ProfileKey
from heterodyne.physics.step_time import decode_step_s, prefill_s
from tests.support.physics import IDEAL, placement
from tests.support.replicas import job, machine, one_step, run_dry


def test_a_job_alone_takes_its_prompt_and_a_step_for_each_further_token() -> None:
    replica = machine()
    replica.submit(job(1, prompt=100, output=3), 0.0)
    steps = run_dry(replica)
    assert [ended.prompted + ended.decoded for _, ended in steps] == [(1,), (1,), (1,)]
    assert steps[-1][1].finished == (1,)
    expected_s = prefill_s(placement(), IDEAL, tokens=100) + sum(
        decode_step_s(placement(), IDEAL, batch=1, context=context) for context in (100, 101)
    )
    assert steps[-1][0] == pytest.approx(expected_s)


def test_an_answer_of_one_token_ends_with_its_prompt() -> None:
    replica = machine()
    replica.submit(job(1, output=1), 0.0)
    _, ended = one_step(replica)
    assert (ended.prompted, ended.finished) == ((1,), (1,))
    assert replica.begin(1.0) is None
    assert replica.blocks.used == 0


def test_a_request_waits_for_what_stands_before_the_scheduler() -> None:
    slow_server = Profile(key=ProfileKey(), prices=IDEAL, first_token=FirstToken(prompt=1.0, queue=0.0, fixed_s=0.5))
    replica = machine(slow_server)
    replica.submit(job(1), 10.0)
    assert replica.begin(10.0) is None
    assert replica.ready_at_s == pytest.approx(10.5)
    assert replica.begin(10.5) is not None


def test_a_long_prompt_is_cut_into_chunks_beside_which_others_decode() -> None:
    replica = machine(step_tokens=64)
    replica.submit(job(1, prompt=10, output=20), 0.0)
    one_step(replica)
    replica.submit(job(2, prompt=150, output=2), 0.0)
    steps = [one_step(replica) for _ in range(3)]
    assert [step.prompt_tokens for step, _ in steps] == [63, 63, 24]
    assert all(ended.decoded == (1,) for _, ended in steps)
    assert [ended.prompted for _, ended in steps] == [(), (), (2,)]


def test_an_engine_that_does_not_mix_stops_decoding_for_prompts() -> None:
    replica = machine(mixes_prompts=False)
    replica.submit(job(1, prompt=10, output=20), 0.0)
    one_step(replica)
    replica.submit(job(2, prompt=150, output=2), 0.0)
    step, ended = one_step(replica)
    assert (step.decoding, ended.decoded, ended.prompted) == (0, (), (2,))
    _, ended = one_step(replica)
    assert ended.decoded == (1, 2)


def test_no_more_sequences_run_than_there_are_slots() -> None:
    replica = machine(slots=2)
    for number in range(5):
        replica.submit(job(number, prompt=16, output=4), 0.0)
    one_step(replica)
    assert (replica.running, replica.waiting) == (2, 3)


def test_a_known_prefix_is_not_computed_again() -> None:
    replica = machine()
    replica.submit(job(1, prompt=64, output=1, blocks=(1, 2, 3, 4)), 0.0)
    cold, _ = one_step(replica)
    replica.submit(job(2, prompt=80, output=1, blocks=(1, 2, 3, 4, 5)), 0.0)
    warm, _ = one_step(replica)
    assert (cold.prompt_tokens, warm.prompt_tokens) == (64, 16)
    assert replica.counters.cached_tokens == 64


def test_the_last_token_of_a_prompt_is_always_computed() -> None:
    replica = machine()
    replica.submit(job(1, prompt=32, output=1, blocks=(1, 2)), 0.0)
    one_step(replica)
    replica.submit(job(2, prompt=32, output=1, blocks=(1, 2)), 0.0)
    step, _ = one_step(replica)
    assert step.prompt_tokens == 16


def test_an_answer_is_part_of_the_prefix_of_the_next_turn() -> None:
    replica = machine()
    replica.submit(job(1, prompt=16, output=33, blocks=(1, 2, 3)), 0.0)
    run_dry(replica)
    # Of 33 written tokens the last was never read back: 48 tokens are in memory, three blocks.
    assert replica.blocks.known((1, 2, 3)) == 3


def test_stored_and_removed_blocks_are_told() -> None:
    replica = machine(blocks=6)
    replica.submit(job(1, prompt=64, output=1, blocks=(1, 2, 3, 4)), 0.0)
    _, ended = one_step(replica)
    assert [(stored.job.id, stored.indices) for stored in ended.stored] == [(1, (0, 1, 2, 3))]
    replica.submit(job(2, prompt=64, output=1, blocks=(9, 8, 7, 6)), 0.0)
    _, ended = one_step(replica)
    assert ended.removed == (4, 3, 2)


def test_chunks_that_are_not_computed_yet_are_nobodys_prefix() -> None:
    replica = machine(step_tokens=32)
    replica.submit(job(1, prompt=96, output=1, blocks=(1, 2, 3, 4, 5, 6)), 0.0)
    one_step(replica)
    assert replica.blocks.known((1, 2, 3, 4, 5, 6)) == 2


def test_without_memory_the_last_admitted_waits_again_and_still_finishes() -> None:
    replica = machine(blocks=8)
    replica.submit(job(1, prompt=30, output=60), 0.0)
    replica.submit(job(2, prompt=30, output=60), 0.0)
    steps = run_dry(replica)
    assert any(ended.preempted == (2,) for _, ended in steps)
    assert [finished for _, ended in steps for finished in ended.finished] == [1, 2]
    assert replica.counters.output_tokens == 120
    assert replica.blocks.used == 0


def test_a_cancelled_job_gives_its_memory_back_at_once() -> None:
    replica = machine()
    for number in (1, 2):
        replica.submit(job(number), 0.0)
    one_step(replica)
    replica.begin(0.0)
    assert replica.cancel(1)
    ended = replica.finish(names_decoded=True)
    assert ended.decoded == (2,)
    replica.cancel(2)
    assert (replica.running, replica.waiting, replica.blocks.used) == (0, 0, 0)
    assert not replica.cancel(1)


def test_a_job_cancelled_in_the_queue_is_never_begun() -> None:
    replica = machine(slots=1)
    for number in (1, 2, 3):
        replica.submit(job(number, output=1), 0.0)
    replica.cancel(2)
    assert [ended.prompted for _, ended in run_dry(replica)] == [(1,), (3,)]


def test_a_job_larger_than_memory_does_not_fit() -> None:
    replica = machine(blocks=4)
    assert replica.fits(job(1, prompt=60, output=4))
    assert not replica.fits(job(2, prompt=60, output=5))
    assert not replica.fits(job(3, prompt=0))


def test_a_leap_is_cut_to_the_pass_in_which_a_new_job_would_have_been_seen() -> None:
    replica = machine()
    replica.submit(job(1, prompt=100, output=50), 0.0)
    first, _ = one_step(replica)
    leap = replica.begin(first.ends_at_s, leap_until_s=inf)
    assert leap is not None
    assert leap.passes == 49
    pass_s = (leap.ends_at_s - leap.begins_at_s) / leap.passes
    replica.submit(job(2), leap.begins_at_s + 2.5 * pass_s)
    cut = replica.cut(replica.ready_at_s)
    assert cut is not None
    assert cut.passes == 3
    assert cut.ends_at_s >= replica.ready_at_s > cut.ends_at_s - 1.1 * pass_s
    replica.finish()
    following = replica.begin(cut.ends_at_s, leap_until_s=inf)
    assert following is not None
    assert following.admitted == (2,)


def test_a_cut_after_the_end_of_a_leap_changes_nothing() -> None:
    replica = machine()
    assert replica.cut(1.0) is None
    replica.submit(job(1, prompt=100, output=50), 0.0)
    first, _ = one_step(replica)
    leap = replica.begin(first.ends_at_s, leap_until_s=inf)
    assert leap is not None
    assert replica.cut(leap.ends_at_s + 1.0) is leap


def test_a_finished_job_says_how_much_of_its_prompt_was_found_in_memory() -> None:
    replica = machine()
    replica.submit(job(1, prompt=64, output=1, blocks=(1, 2, 3, 4)), 0.0)
    replica.submit(job(2, prompt=70, output=1, blocks=(1, 2, 9, 10)), 0.0)
    ended = [ended for _, ended in run_dry(replica)]
    found = {name: tokens for one in ended for name, tokens in zip(one.finished, one.cached_tokens, strict=True)}
    assert found == {1: 0, 2: 32}


def test_what_was_found_is_of_the_first_time_when_a_job_is_preempted() -> None:
    replica = machine(blocks=7)
    replica.submit(job(1, prompt=40, output=30, blocks=(1, 2)), 0.0)
    replica.submit(job(2, prompt=40, output=30, blocks=(3, 4)), 0.0)
    ended = [ended for _, ended in run_dry(replica)]
    assert replica.counters.preemptions
    assert [tokens for one in ended for tokens in one.cached_tokens] == [0, 0]


def test_a_hash_may_stand_for_several_blocks() -> None:
    replica = machine(blocks_per_hash=4)
    replica.submit(job(1, prompt=100, output=1, blocks=(1,)), 0.0)
    run_dry(replica)
    assert (replica.blocks.used, replica.blocks.cached) == (0, 4)
    replica.submit(job(2, prompt=100, output=1, blocks=(1,)), 1.0)
    step, ended = one_step(replica, 1.0)
    assert (step.prompt_tokens, ended.cached_tokens) == (36, (64,))
