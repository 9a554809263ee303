"""Paged KV memory: what is held, what is kept, what goes first."""

from heterodyne.physics.replica.block_store import BlockStore


def test_released_shared_blocks_stay_until_memory_is_needed() -> None:
    store = BlockStore(4)
    store.take(2)
    assert store.share((11, 12)) == {11, 12}
    store.release((11, 12), private=0)
    assert (store.used, store.available, store.known((11, 12, 13))) == (0, 4, 2)
    store.take(3)
    # The end of a prefix goes before its beginning.
    assert store.known((11, 12)) == 1
    assert store.removed == [12]


def test_two_sequences_hold_one_copy_of_what_they_share() -> None:
    store = BlockStore(10)
    store.take(2)
    store.share((1, 2))
    store.hold((1, 2))
    assert store.used == 2
    store.release((1, 2), private=0)
    assert store.idle_among((1, 2)) == 0
    store.release((1, 2), private=0)
    assert store.idle_among((1, 2)) == 2


def test_a_block_computed_twice_is_kept_once() -> None:
    store = BlockStore(10)
    store.take(1)
    store.share((7,))
    store.take(1)
    assert store.share((7,)) == set()
    assert store.used == 1


def test_clearing_forgets_only_what_nobody_holds() -> None:
    store = BlockStore(10)
    store.take(2)
    store.share((1, 2))
    store.release((2,), private=0)
    store.clear()
    assert store.known((1, 2)) == 1
    assert store.removed == [2]


def test_a_hash_of_several_blocks_is_held_kept_and_evicted_whole() -> None:
    store = BlockStore(10, per_hash=4)
    store.take(9)
    store.share((1, 2))
    assert (store.private, store.used, store.available) == (1, 9, 1)
    store.release((1, 2), private=1)
    assert (store.used, store.cached, store.idle_among((1, 2, 3))) == (0, 8, 8)
    store.take(3)
    assert (store.removed, store.cached) == ([2], 4)
