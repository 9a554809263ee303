"""KV event messages in both wire dialects."""

from contextlib import suppress

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heterodyne.domain.errors import EngineGarbage
from heterodyne.domain.kv_event import AllBlocksCleared, BlockRemoved, BlockStored
from heterodyne.emulator.kv.changes import BlocksRemoved, BlocksStored, CacheCleared
from heterodyne.emulator.kv.dialects import in_sglang, in_vllm
from heterodyne.engines import kv_events
from heterodyne.engines.kv_events import read_kv_events

encode = msgspec.msgpack.encode
STORED_MAP = {
    "type": "BlockStored",
    "block_hashes": [b"\x01" * 32, 7],
    "parent_block_hash": None,
    "token_ids": [1, 2, 3, 4],
    "block_size": 2,
    "lora_id": 3,
    "medium": "GPU",
    "lora_name": "french",
    "extra_keys": [["salt"], None],
    "group_idx": 1,
    "kv_cache_spec_kind": "full_attention",
    "from_the_future": {"a": [1]},
}
STORED_ARRAY = ["BlockStored", [-5], 9, [1, 2], 2, 4, "CPU_PINNED"]


def test_maps_and_arrays_say_the_same() -> None:
    batch = read_kv_events(encode([1.5, [STORED_MAP, STORED_ARRAY], 2]))
    assert (batch.at_s, batch.rank, batch.unknown) == (1.5, 2, 0)
    assert batch.events == (
        BlockStored(
            hashes=(b"\x01" * 32, 7),
            parent=None,
            token_ids=(1, 2, 3, 4),
            block_tokens=2,
            adapter="french",
            medium="GPU",
            group=1,
        ),
        BlockStored(hashes=(-5,), parent=9, token_ids=(1, 2), block_tokens=2, adapter="4", medium="CPU_PINNED"),
    )


def test_removals_and_clearings_are_read() -> None:
    events = [
        {"type": "BlockRemoved", "block_hashes": [1], "medium": "GPU", "group_idx": 0},
        ["BlockRemoved", [1, 2], "GPU"],
        ["BlockRemoved", [3]],
        {"type": "AllBlocksCleared"},
        ["AllBlocksCleared"],
    ]
    assert read_kv_events(encode([0, events])).events == (
        BlockRemoved(hashes=(1,), medium="GPU", group=0),
        BlockRemoved(hashes=(1, 2), medium="GPU"),
        BlockRemoved(hashes=(3,)),
        AllBlocksCleared(),
        AllBlocksCleared(),
    )


def test_what_is_new_is_passed_over_and_counted() -> None:
    events = [
        {"type": "BlockMoved", "x": 1},
        ["Compacted", 3],
        [*STORED_ARRAY, "name", None, 0, "more"],
        ["AllBlocksCleared", 1],
    ]
    batch = read_kv_events(encode([0.0, events, None, "a field behind the rank"]))
    assert batch.unknown == 2
    assert isinstance(batch.events[0], BlockStored)
    assert batch.events[0].adapter == "4", "behind the medium an array means different things"
    assert batch.events[1] == AllBlocksCleared()


def test_an_engine_that_tells_no_tokens_is_understood() -> None:
    [event] = read_kv_events(encode([0, [{**STORED_MAP, "token_ids": None}]])).events
    assert isinstance(event, BlockStored)
    assert event.token_ids == ()


def test_what_the_emulator_publishes_is_read_back() -> None:
    big = (1 << 64) - 5
    stored = BlocksStored(hashes=(11, big), parent=big, token_ids=list(range(8)), block_tokens=4)
    changes = (stored, BlocksRemoved(hashes=(11,)), CacheCleared())
    vllm = read_kv_events(encode((1.0, [event for change in changes for event in in_vllm(change)], 0))).events
    assert vllm[0] == BlockStored(
        hashes=(11, big), parent=big, token_ids=tuple(range(8)), block_tokens=4, medium="GPU", group=0
    )
    assert len(vllm) == 3
    sglang = read_kv_events(encode((1.0, [event for change in changes for event in in_sglang(change)], 0))).events
    assert [type(event).__name__ for event in sglang] == [
        "BlockStored",
        "BlockStored",
        "BlockRemoved",
        "AllBlocksCleared",
    ]
    assert sglang[1] == BlockStored(hashes=(-5,), parent=11, token_ids=(4, 5, 6, 7), block_tokens=4, medium="GPU")


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"\xc1",
        b"{}",
        encode({}),
        encode([]),
        encode([1.0]),
        encode(["now", []]),
        encode([1.0, {}]),
        encode([1.0, [7]]),
        encode([1.0, [{}]]),
        encode([1.0, [[]]]),
        encode([1.0, [[7]]]),
        encode([1.0, [["BlockStored"]]]),
        encode([1.0, [["BlockStored", ["text"], None, [], 4]]]),
        encode([1.0, [["BlockStored", [1], None, [1, 2, 3], 2]]]),
        encode([1.0, [["BlockStored", [1], None, [], 0]]]),
        encode([1.0, [["BlockStored", [1], None, [], 10**9]]]),
        encode([1.0, [["BlockRemoved", [b"x" * 65]]]]),
        encode([1.0, [{"type": "BlockRemoved"}]]),
        encode([1.0, []]) + b"\x00",
        b"\x91" * 5000,
    ],
)
def test_what_is_not_as_promised_is_garbage(payload: bytes) -> None:
    with pytest.raises(EngineGarbage):
        read_kv_events(payload)


def test_sizes_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kv_events, "MESSAGE_BYTES_MAX", 8)
    with pytest.raises(EngineGarbage, match="bytes"):
        read_kv_events(encode([1.0, [["AllBlocksCleared"]]]))


@given(
    st.binary(max_size=80)
    | st.recursive(
        st.none() | st.integers(-9, 9) | st.sampled_from(["BlockStored", "BlockRemoved", "type", "block_hashes"]),
        lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.sampled_from(["type", "block_hashes"]), inner),
    ).map(lambda events: encode([1.0, [events]]))
)
def test_no_message_is_too_strange(payload: bytes) -> None:
    with suppress(EngineGarbage):
        read_kv_events(payload)
