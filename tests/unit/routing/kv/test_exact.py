"""What KV events take out of the index."""

from heterodyne.domain.kv_event import AllBlocksCleared, BlockRemoved, BlockStored
from heterodyne.routing.kv.chain import Chain
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
    assert index.matches(one).by_place() == {1: 192}
    assert index.matches(other).by_place() == {1: 192}


def test_no_more_is_believed_than_the_engine_holds() -> None:
    index = PrefixIndex()
    exact = ExactBlocks(index)
    old, new = proven(index, 0, 0, 4), proven(index, 0, 10, 4)
    exact.on_kv_event(0, stored(*range(32)))
    assert index.tokens(0) == 512
    assert not exact.on_kv_event(0, BlockRemoved(hashes=tuple(range(12))))
    assert exact.tokens(0) == 320
    assert index.matches(old).by_place() == {0: 64}
    assert index.matches(new).by_place() == {0: 256}


def test_after_lost_messages_all_is_forgotten_and_nothing_is_counted() -> None:
    index = PrefixIndex()
    exact = ExactBlocks(index)
    proven(index, 0, 0, 4)
    exact.on_gap(0)
    assert index.tokens(0) == 0
    chain = proven(index, 0, 0, 4)
    exact.on_kv_event(0, BlockRemoved(hashes=(1, 2)))
    assert index.matches(chain).by_place() == {0: 256}
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
