"""What KV events take out of the index."""

from heterodyne.domain.kv_event import AllBlocksCleared, BlockRemoved, BlockStored
from heterodyne.routing.kv.chain import Chain, chain_of_ids
from heterodyne.routing.kv.exact import ExactBlocks
from heterodyne.routing.kv.index import PrefixIndex

IDS = tuple(range(1000, 1256))  # three blocks of ours, sixteen of the engine's


def stored(*hashes: int, parent: int | None = None, ids: tuple[int, ...] = (), **more: object) -> BlockStored:
    return BlockStored(hashes=hashes, parent=parent, token_ids=ids, block_tokens=16, **more)  # type: ignore[arg-type]


def proven(index: PrefixIndex, place: int, first: int, blocks: int) -> Chain:
    chain = Chain(tuple(range(first, first + blocks)), tuple(range(64, 64 * blocks + 1, 64)))
    index.insert(place, chain)
    index.prove(place, chain)
    return chain


def test_a_cleared_cache_is_forgotten() -> None:
    index = PrefixIndex()
    exact = ExactBlocks(index)
    one, other = proven(index, 0, 0, 3), proven(index, 1, 0, 3)
    assert exact.on_kv_event(0, AllBlocksCleared())
    assert index.matches(one) == {1: 192}
    assert index.matches(other) == {1: 192}


def test_no_more_is_believed_than_the_engine_holds() -> None:
    index = PrefixIndex()
    exact = ExactBlocks(index)
    old, new = proven(index, 0, 0, 4), proven(index, 0, 10, 4)
    exact.on_kv_event(0, stored(*range(32)))
    assert index.tokens(0) == 512
    assert not exact.on_kv_event(0, BlockRemoved(hashes=tuple(range(12))))
    assert exact.tokens(0) == 320
    assert index.matches(old) == {0: 64}
    assert index.matches(new) == {0: 256}


def test_after_lost_messages_all_is_forgotten_and_nothing_is_counted() -> None:
    index = PrefixIndex()
    exact = ExactBlocks(index)
    proven(index, 0, 0, 4)
    exact.on_gap(0)
    assert index.tokens(0) == 0
    chain = proven(index, 0, 0, 4)
    exact.on_kv_event(0, BlockRemoved(hashes=(1, 2)))
    assert index.matches(chain) == {0: 256}
    assert exact.tokens(0) is None
    exact.on_kv_event(0, AllBlocksCleared(), rank=1)
    assert exact.tokens(0) is None
    exact.on_kv_event(0, AllBlocksCleared())
    assert exact.tokens(0) == 0


def test_an_engine_that_names_ever_new_memories_is_not_counted() -> None:
    exact = ExactBlocks(PrefixIndex())
    for number in range(1000):
        exact.on_kv_event(0, stored(1, medium=str(number)))
    assert exact.tokens(0) is None


def test_layer_groups_count_once_and_media_and_ranks_add_up() -> None:
    exact = ExactBlocks(PrefixIndex())
    exact.on_kv_event(0, stored(1, 2, group=0))
    exact.on_kv_event(0, stored(3, group=1))
    exact.on_kv_event(0, stored(1, medium="CPU"))
    exact.on_kv_event(0, stored(1), rank=1)
    assert exact.tokens(0) == 32 + 16 + 16
    exact.on_kv_event(0, AllBlocksCleared(), rank=0)
    assert exact.tokens(0) == 16


def test_a_prompt_of_token_ids_loses_the_very_block_the_engine_removed() -> None:
    index = PrefixIndex()
    exact = ExactBlocks(index)
    exact.on_restart(0)
    chain = chain_of_ids(b"tenant", IDS)
    index.insert(0, chain)
    index.prove(0, chain)
    exact.expect(0, chain, IDS)
    exact.on_kv_event(0, stored(*range(10), ids=IDS[:160]))
    exact.on_kv_event(0, stored(*range(10, 16), parent=9, ids=IDS[160:]))
    exact.on_kv_event(0, stored(*range(100, 200)))  # somebody else's, so that the count alone drops nothing
    exact.on_kv_event(0, BlockRemoved(hashes=(15,)))
    assert index.matches(chain) == {0: 128}
    exact.on_kv_event(0, BlockRemoved(hashes=(14, 13, 12, 11, 10, 9, 8, 7)))
    assert index.matches(chain) == {0: 64}


def test_an_adapters_blocks_are_not_the_models() -> None:
    index = PrefixIndex()
    exact = ExactBlocks(index)
    exact.on_restart(0)
    chain = chain_of_ids(b"tenant", IDS)
    index.insert(0, chain)
    exact.expect(0, chain, IDS)
    exact.on_kv_event(0, stored(*range(16), ids=IDS, adapter="lora"))
    exact.on_kv_event(0, stored(*range(100, 200)))
    exact.on_kv_event(0, BlockRemoved(hashes=tuple(range(16))))
    assert index.matches(chain) == {0: 256}


def test_equal_ids_of_two_tenants_are_lost_to_both() -> None:
    index = PrefixIndex()
    exact = ExactBlocks(index)
    exact.on_restart(0)
    chains = [chain_of_ids(tenant, IDS) for tenant in (b"a", b"b")]
    for chain in chains:
        index.insert(0, chain)
        exact.expect(0, chain, IDS)
    exact.on_kv_event(0, stored(*range(16), ids=IDS))
    exact.on_kv_event(0, BlockRemoved(hashes=(3,)))
    assert [index.matches(chain) for chain in chains] == [{}, {}]


def test_blocks_whose_beginning_was_missed_and_ids_out_of_range_are_passed_over() -> None:
    index = PrefixIndex()
    exact = ExactBlocks(index)
    exact.on_restart(0)
    chain = chain_of_ids(b"tenant", IDS)
    index.insert(0, chain)
    exact.expect(0, chain, IDS)
    exact.on_kv_event(0, stored(5, parent=4, ids=IDS[:16]))
    exact.on_kv_event(0, stored(6, ids=(1 << 40,) * 16))
    exact.on_kv_event(0, BlockRemoved(hashes=(5, 6)))
    assert index.matches(chain) == {0: 256}


def test_where_nobody_listens_nothing_is_expected() -> None:
    index = PrefixIndex()
    exact = ExactBlocks(index)
    exact.expect(0, chain_of_ids(b"tenant", IDS), IDS)
    assert exact.tokens(0) is None
