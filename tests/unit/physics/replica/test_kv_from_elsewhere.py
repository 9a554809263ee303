"""Jobs whose first tokens are brought from elsewhere, and jobs whose KV is kept for others to fetch."""

from heterodyne.physics.replica.job import Job
from tests.support.replicas import job, machine, one_step, run_dry

HASHES = (11, 12, 13, 14, 15, 16)


def test_what_is_brought_is_not_computed_again() -> None:
    replica = machine()
    assert replica.try_reserve(job(1, prompt=100, output=2, blocks=HASHES))
    assert replica.begin(0.0) is None
    replica.arrive(1, 96, 0.0)
    step, ended = one_step(replica)
    assert (step.prompt_tokens, ended.prompted) == (4, (1,))
    _, ended = one_step(replica)
    assert (ended.finished, ended.cached_tokens) == ((1,), (96,))
    assert replica.blocks.used == 0
    assert replica.blocks.known(HASHES) == len(HASHES)


def test_tokens_that_fill_no_block_are_brought_too_but_the_last_is_computed() -> None:
    replica = machine()
    assert replica.try_reserve(job(1, prompt=100, output=1))
    replica.arrive(1, 100, 0.0)
    step, _ = one_step(replica)
    assert step.prompt_tokens == 1


def test_blocks_are_shared_when_they_arrive_and_not_before() -> None:
    replica = machine()
    assert replica.try_reserve(job(1, blocks=HASHES))
    assert replica.blocks.known(HASHES) == 0
    replica.arrive(1, 48, 0.0)
    assert replica.blocks.known(HASHES) == 3


def test_memory_is_reserved_from_the_start_and_refused_where_it_is_short() -> None:
    replica = machine(blocks=10)
    assert replica.try_reserve(job(1, prompt=100))
    assert replica.blocks.used == 7
    assert not replica.try_reserve(job(2, prompt=100))
    assert replica.cancel(1)
    assert replica.blocks.used == 0
    assert replica.try_reserve(job(2, prompt=100))


def test_a_job_with_memory_goes_before_one_that_waits_for_that_memory() -> None:
    replica = machine(blocks=10)
    assert replica.try_reserve(job(1, prompt=100, output=2))
    replica.submit(job(2, prompt=100, output=2), 0.0)
    assert replica.begin(0.0) is None
    replica.arrive(1, 0, 0.0)
    finished = [number for _, ended in run_dry(replica) for number in ended.finished]
    assert finished == [1, 2]


def test_a_cancelled_job_gives_its_memory_back_before_during_and_after_its_kv_arrives() -> None:
    replica = machine()
    for arrives, begins in ((False, False), (True, False), (True, True)):
        assert replica.try_reserve(job(1))
        if arrives:
            replica.arrive(1, 50, 0.0)
        if begins:
            replica.begin(0.0)
        assert replica.cancel(1)
        if begins:
            replica.finish()
        assert replica.blocks.used == 0
        assert replica.begin(0.0) is None


def test_a_prefill_job_keeps_its_kv_until_it_is_released() -> None:
    replica = machine(blocks=10)
    replica.submit(Job(id=1, prompt_tokens=100, output_tokens=1, blocks=HASHES, keeps_kv=True), 0.0)
    _, ended = one_step(replica)
    assert (ended.prompted, ended.finished) == ((1,), (1,))
    assert replica.blocks.used == 7
    replica.submit(job(2, prompt=100), 0.0)
    assert replica.begin(0.0) is None
    assert replica.release_kv(1)
    assert not replica.release_kv(1)
    assert replica.begin(0.0) is not None
