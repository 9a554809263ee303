"""What the JAX engine tells its device, in which order, with a device that is not there."""

import random

from heterodyne.jax_engine.scheduler import ChunkWork, CopyWork, SlotScheduler, StepWork
from heterodyne.jax_engine.sequence import JaxSequence

LONG = list(range(1000, 1100))


def scheduler(slots: int = 2, *, steps: int = 1, context_tokens: int = 2048, waiting_max: int = 8) -> SlotScheduler:
    return SlotScheduler(
        slots=slots, context_tokens=context_tokens, chunk_tokens=64, steps=steps, waiting_max=waiting_max
    )


def asked(prompt: list[int], limit: int = 3, key: int = 0, stop: int | None = None, salt: str = "") -> JaxSequence:
    stops = frozenset() if stop is None else frozenset({stop})
    return JaxSequence(key, prompt, limit_tokens=limit, stop_ids=stops, salt=salt)


def answer(one: SlotScheduler, token: int = 7) -> list[object]:
    """Run until there is nothing to do, every word being `token`; all that the device was told."""
    told = []
    while (work := one.next_work()) is not None:
        told.append(work)
        sequences = list(work.sequences.values()) if isinstance(work, StepWork) else []
        if isinstance(work, ChunkWork) and work.is_last:
            sequences = [work.sequence]
        for sequence in sequences:
            for _ in range(work.steps if isinstance(work, StepWork) else 1):
                if sequence.slot is not None and one.wrote(sequence, token) is not None:
                    one.finish(sequence)
    return told


def words(told: list[object]) -> list[str]:
    return [type(work).__name__.removesuffix("Work") for work in told]


def test_a_prompt_is_read_in_chunks_and_then_steps_write() -> None:
    one = scheduler()
    sequence = asked(LONG)
    assert one.try_submit(sequence)
    told = answer(one)
    assert words(told) == ["Chunk", "Chunk", "Step", "Step"]
    assert [(work.start, len(work.tokens), work.is_last) for work in told[:2]] == [(0, 64, False), (64, 36, True)]
    assert sequence.written == [7, 7, 7]
    assert (one.running, one.waiting) == (0, 0)


def test_chunks_and_steps_take_turns() -> None:
    one = scheduler()
    one.try_submit(asked([1, 2], limit=8))
    assert words([one.next_work(), one.next_work()]) == ["Chunk", "Step"]
    one.try_submit(asked(LONG + LONG))
    assert words([one.next_work() for _ in range(6)]) == ["Chunk", "Step"] * 3


def test_the_device_is_told_no_more_than_the_limit_before_it_answers() -> None:
    one = scheduler()
    one.try_submit(asked([1, 2], limit=3))
    assert words([one.next_work() for _ in range(3)]) == ["Chunk", "Step", "Step"]
    assert one.next_work() is None


def test_several_steps_of_one_call_may_go_beyond_an_end() -> None:
    one = scheduler(steps=4)
    sequence = asked([1, 2], limit=3)
    one.try_submit(sequence)
    assert words(answer(one)) == ["Chunk", "Step"]
    assert sequence.written == [7, 7, 7]


def test_a_stop_token_ends_an_answer() -> None:
    one = scheduler()
    sequence = asked([1, 2], limit=50, stop=7)
    one.try_submit(sequence)
    assert words(answer(one)) == ["Chunk"]
    assert sequence.written == [7]


def test_a_context_that_is_full_ends_an_answer() -> None:
    one = scheduler(context_tokens=5)
    sequence = asked([1, 2, 3], limit=50)
    one.try_submit(sequence)
    answer(one)
    assert sequence.written == [7, 7]


def test_the_next_turn_reads_only_what_is_new() -> None:
    one = scheduler()
    one.try_submit(asked(LONG))
    answer(one)
    again = asked([*LONG, 7, 7, 8, 9])
    one.try_submit(again)
    told = answer(one)
    assert again.reused == 102
    assert told[0].tokens == [8, 9]
    assert one.counters.reused_tokens == 102


def test_nobody_begins_with_what_another_salt_has_left() -> None:
    one = scheduler(slots=3)
    for salt, reused in (("a", 0), ("b", 0), ("", 0), ("a", 99), ("b", 99), ("", 99)):
        sequence = asked(LONG, salt=salt)
        one.try_submit(sequence)
        answer(one)
        assert sequence.reused == reused


def test_the_last_token_of_a_prompt_is_always_read() -> None:
    one = scheduler()
    for _ in range(2):
        one.try_submit(asked(LONG))
        told = answer(one)
    assert told[0].tokens == LONG[-1:]


def test_what_a_running_answer_begins_with_is_copied_for_another() -> None:
    one = scheduler()
    one.try_submit(asked(LONG, limit=50))
    assert words([one.next_work(), one.next_work()]) == ["Chunk", "Chunk"]
    one.try_submit(asked([*LONG, 5]))
    copy, step, chunk = one.next_work(), one.next_work(), one.next_work()
    assert (copy, type(step)) == (CopyWork(source=0, slot=1), StepWork)
    assert (chunk.slot, chunk.start, chunk.tokens) == (1, 100, [5])


def test_a_slot_is_not_overwritten_for_a_few_tokens_in_common() -> None:
    one = scheduler()
    one.try_submit(asked(LONG))
    answer(one)
    one.try_submit(asked([*LONG[:5], 1, 2, 3]))
    assert answer(one)[0].slot == 1


def test_who_leaves_gives_the_slot_back_and_what_was_read_stays() -> None:
    one = scheduler(slots=1)
    gone, next_ = asked([*LONG, *LONG]), asked([*LONG, 4, 5])
    one.try_submit(gone)
    one.next_work()
    one.try_submit(next_)
    one.finish(gone)
    assert answer(one)[0].start == 64
    assert next_.written == [7, 7, 7]


def test_who_leaves_while_waiting_is_never_read() -> None:
    one = scheduler(slots=1)
    first, second = asked([1, 2]), asked([3, 4])
    one.try_submit(first)
    one.try_submit(second)
    one.finish(second)
    assert words(answer(one)) == ["Chunk", "Step", "Step"]


def test_more_than_may_wait_are_refused() -> None:
    one = scheduler(waiting_max=1)
    assert one.try_submit(asked([1]))
    assert not one.try_submit(asked([1]))


def test_the_cache_is_as_long_as_the_longest_needs() -> None:
    one = scheduler()
    one.try_submit(asked([1] * 300, limit=4))
    assert one.length_for(one.next_work()) == 256
    work = [one.next_work() for _ in range(4)][-1]
    assert (one.length, one.length_for(work)) == (256, 512)
    one.set_length(2048)
    assert one.length_for(work) == 512
    one.set_length(1024)
    assert one.length_for(work) == 1024


def test_a_cache_that_became_shorter_holds_less_of_idle_slots() -> None:
    one = scheduler()
    one.try_submit(asked(LONG))
    answer(one)
    one.set_length(40)
    assert one.slots[0].tokens == LONG[:40]


def test_any_traffic_is_answered_whole_and_reuses_only_what_slots_hold() -> None:
    """A model of the device's cache beside it: what a chunk takes for held must be there, token by token."""
    for seed in range(60):
        draw = random.Random(seed)
        one, held, ended = scheduler(slots=3, waiting_max=99), {slot: list[int]() for slot in range(3)}, 0
        pending: list[JaxSequence] = []
        for turn in range(2000):
            if turn < 25:
                prompt = LONG[: draw.randrange(100)] + [draw.randrange(9) for _ in range(3)]
                one.try_submit(asked(prompt, limit=draw.randrange(1, 6)))
            work = one.next_work()
            if isinstance(work, CopyWork):
                held[work.slot] = list(held[work.source])
            elif isinstance(work, ChunkWork):
                assert held[work.slot][: work.start] == work.sequence.prompt[: work.start]
                held[work.slot][work.start :] = work.tokens
                pending += [work.sequence] * work.is_last
            elif isinstance(work, StepWork):
                for slot, sequence in work.sequences.items():
                    held[slot][sequence.places - 1 :] = [50 + sequence.places - len(sequence.prompt)]
                    pending.append(sequence)
            while pending and (work is None or len(pending) > 4):
                sequence = pending.pop(0)
                # What the device wrote, as `held` has it, so that a later prompt would find the same.
                token = 51 + len(sequence.written)
                if sequence.slot is not None and (one.wrote(sequence, token) is not None or draw.random() < 0.05):
                    one.finish(sequence)
                    ended += 1
        assert (ended, one.running, one.waiting) == (25, 0, 0)
