"""Many records in one value: what is read of it by columns, by objects, and when blocks are joined."""

import msgspec
import pytest
from msgspec.structs import astuple

from heterodyne.books.encoding import encode_batch, encode_finished, encode_opening
from heterodyne.domain.record_block import ARRAY_HEAD, PART_HEAD, RecordBlock, join_encoded
from heterodyne.domain.usage import UsageRecord
from heterodyne.domain.usage_columns import FIELDS
from heterodyne.domain.usage_tally import UsageTally
from tests.support.usage_records import ending, opening, record

LONG_ID = "r" * 45  # has a head of two bytes
encode = msgspec.msgpack.encode


def record_of(tokens: int) -> UsageRecord:
    """Odd ones are of another key."""
    return record(0, id=LONG_ID if tokens == 7 else f"r{tokens}", key=f"k{tokens % 2}", prompt_tokens=tokens)


def spooled(*prompt_tokens: int) -> bytes:
    """What a worker writes."""
    records = []
    for tokens in prompt_tokens:
        wanted = record_of(tokens)
        encoded = encode_opening(opening(0, id=wanted.id, key=wanted.key))
        records.append((encode_finished(encoded, ending(prompt_tokens=tokens)), len(encoded)))
    return encode_batch(records)


def whole(*prompt_tokens: int) -> bytes:
    """What recovery writes, and versions before wrote."""
    return join_encoded([encode(record_of(tokens)) for tokens in prompt_tokens])


def part(commons: list[object], rows: list[object]) -> bytes:
    """A block of one part."""
    return join_encoded([PART_HEAD + encode(commons) + encode(rows)])


@pytest.mark.parametrize("form", [spooled, whole])
def test_a_block_is_read_by_columns_and_by_objects(form) -> None:  # type: ignore[no-untyped-def]
    block = RecordBlock.read(form(3, 0, 7))
    assert len(block) == 3
    assert block.columns.integers("prompt_tokens").tolist() == [3, 0, 7]
    assert block.columns.truths("prompt_tokens").tolist() == [True, False, True]
    assert list(block.columns.values("key")) == ["k1", "k0", "k1"]
    assert [block.columns.askers[who][2] for who in block.columns.who] == ["k1", "k0", "k1"]
    assert list(block) == list(reversed(block))[::-1] == list(map(record_of, (3, 0, 7)))
    assert block[1] == record_of(0)
    assert list(block[1:]) == list(block)[1:]


def test_what_requests_have_in_common_is_written_once() -> None:
    assert len(spooled(*range(0, 20, 2))) < 0.6 * len(whole(*range(0, 20, 2)))


def test_columns_are_the_same_of_bytes_and_of_objects() -> None:
    block = RecordBlock.read(spooled(3, 0, 5))
    same = RecordBlock.of(list(block))
    for name in FIELDS:
        assert list(same.columns.values(name)) == list(block.columns.values(name)), name
    assert same.columns.askers == block.columns.askers
    assert UsageTally(same).days == UsageTally(block).days


@pytest.mark.parametrize("last", [spooled, whole])
def test_joined_blocks_hold_all_records_in_order_and_are_read_again(last) -> None:  # type: ignore[no-untyped-def]
    parts = [RecordBlock.read(spooled(1, 2)), RecordBlock.read(spooled(7)), RecordBlock.read(last(4, 3))]
    joined = RecordBlock.joined(parts)
    assert joined.columns.integers("prompt_tokens").tolist() == [1, 2, 7, 4, 3]
    assert list(joined.columns.values("key")) == ["k1", "k0", "k1", "k0", "k1"]
    assert list(joined) == list(RecordBlock.read(joined.content)) == list(map(record_of, (1, 2, 7, 4, 3)))
    assert RecordBlock.joined(parts[:1]) is parts[0]


@pytest.mark.parametrize("form", [spooled, whole])
def test_a_block_without_what_was_made_of_it_has_the_same_records(form) -> None:  # type: ignore[no-untyped-def]
    block = RecordBlock.read(form(4, 6))
    assert list(block.undecoded()) == list(block)
    assert block.undecoded().columns.integers("prompt_tokens").tolist() == [4, 6]


@pytest.mark.parametrize("fields", [slice(-3), slice(None)], ids=["fewer", "more"])
@pytest.mark.parametrize("in_parts", [True, False])
def test_records_of_other_versions_take_defaults_and_lose_what_is_not_known(fields: slice, in_parts: bool) -> None:
    values = astuple(record(prompt_tokens=9))[fields]
    row = values if len(values) < len(FIELDS) else (*values, "of a version to come")
    content = part([row[2:13]], [(*row[:2], 0, *row[13:])]) if in_parts else join_encoded([encode(row)])
    block = RecordBlock.read(content)
    assert block.columns.integers("prompt_tokens").tolist() == [9]
    assert list(RecordBlock.read(block.content)) == list(block) == list(RecordBlock(content, 1))


def test_an_array_with_a_short_head_is_joined_like_any_other() -> None:
    compact = RecordBlock.read(encode([record(id="short"), record(id="second")]))
    joined = RecordBlock.joined([compact, RecordBlock.of([record(id="other")])])
    assert [one.id for one in RecordBlock.read(joined.content)] == ["short", "second", "other"]


def test_no_records_are_a_block_too() -> None:
    empty = RecordBlock.of(())
    assert not empty
    assert list(RecordBlock.read(empty.content)) == []
    assert UsageTally(empty).days == {}


def test_bytes_that_are_no_records_are_refused() -> None:
    row = ("id", 1.0, 1, *astuple(record())[13:])
    nowhere = part([astuple(opening())[2:]], [row])
    for wrong in (b"", ARRAY_HEAD + b"\x00\x00\x00\x01\x01", spooled(1)[:-1], encode([{"id": 1}]), nowhere):
        with pytest.raises(msgspec.DecodeError):
            RecordBlock.read(wrong)
