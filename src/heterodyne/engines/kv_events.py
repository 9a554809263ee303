"""Decodes one message of KV events, as vLLM and SGLang publish them over ZeroMQ.

A batch is an array `[time, [event, …], rank]`, and newer engines put more behind it. An event is a map with a `type`
(since the summer of 2026) or an array that begins with it (before). What stands behind the members we know, and kinds
of events we do not, are passed over; whatever else is not as promised is garbage.
"""

from collections.abc import Iterator
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from heterodyne.domain.errors import EngineGarbage
from heterodyne.domain.kv_event import AllBlocksCleared, BlockHash, BlockRemoved, BlockStored, KvEvent, KvEventBatch

MESSAGE_BYTES_MAX = 16 << 20
EVENTS_MAX = 100_000
BLOCKS_MAX = 100_000  # of one event
BLOCK_TOKENS_MAX = 65_536
HASH_BYTES_MAX = 64

Hash = Annotated[bytes, Meta(max_length=HASH_BYTES_MAX)] | int
Hashes = Annotated[list[Hash], Meta(max_length=BLOCKS_MAX)]
Tokens = Annotated[list[int], Meta(max_length=MESSAGE_BYTES_MAX)]  # a token takes a byte or more
Word = Annotated[str, Meta(max_length=256)]


class _Stored(msgspec.Struct, tag="BlockStored"):
    block_hashes: Hashes
    parent_block_hash: Hash | None
    token_ids: Tokens | None
    block_size: Annotated[int, Meta(ge=1, le=BLOCK_TOKENS_MAX)]
    lora_id: int | None = None
    medium: Word | None = None
    lora_name: Word | None = None
    group_idx: int | None = None


class _Removed(msgspec.Struct, tag="BlockRemoved"):
    block_hashes: Hashes
    medium: Word | None = None
    group_idx: int | None = None


class _Cleared(msgspec.Struct, tag="AllBlocksCleared"):
    pass


class _StoredArray(msgspec.Struct, array_like=True, tag="BlockStored"):
    """What both engines have in the same places; behind `medium` each went on in its own way."""

    block_hashes: Hashes
    parent_block_hash: Hash | None
    token_ids: Tokens | None
    block_size: Annotated[int, Meta(ge=1, le=BLOCK_TOKENS_MAX)]
    lora_id: int | None = None
    medium: Word | None = None


class _RemovedArray(msgspec.Struct, array_like=True, tag="BlockRemoved"):
    """See above."""

    block_hashes: Hashes
    medium: Word | None = None


class _Batch(msgspec.Struct, array_like=True):
    ts: float
    events: Annotated[list[msgspec.Raw], Meta(max_length=EVENTS_MAX)]
    data_parallel_rank: int | None = None


class _MapKind(msgspec.Struct):
    type: Word


class _ArrayKind(msgspec.Struct, array_like=True):
    type: Word


_decode_batch = msgspec.msgpack.Decoder(_Batch).decode
_decode_map_kind = msgspec.msgpack.Decoder(_MapKind).decode
_decode_array_kind = msgspec.msgpack.Decoder(_ArrayKind).decode
_MAPS: dict[str, Any] = {
    "BlockStored": msgspec.msgpack.Decoder(_Stored).decode,
    "BlockRemoved": msgspec.msgpack.Decoder(_Removed).decode,
}
_ARRAYS: dict[str, Any] = {
    "BlockStored": msgspec.msgpack.Decoder(_StoredArray).decode,
    "BlockRemoved": msgspec.msgpack.Decoder(_RemovedArray).decode,
}


def read_kv_events(payload: bytes) -> KvEventBatch:
    """Raises `EngineGarbage` with what is wrong."""
    if len(payload) > MESSAGE_BYTES_MAX:
        raise EngineGarbage(f"A KV event message has {len(payload)} bytes; more than {MESSAGE_BYTES_MAX} are not read.")
    try:
        batch = _decode_batch(payload)
        events = tuple(_events(batch.events))
    except (ValueError, RecursionError) as error:
        raise EngineGarbage(f"A KV event message has not the promised form: {error}.") from error
    return KvEventBatch(
        at_s=batch.ts, rank=batch.data_parallel_rank, events=events, unknown=len(batch.events) - len(events)
    )


def _events(raw_events: list[msgspec.Raw]) -> Iterator[KvEvent]:
    for raw in raw_events:
        is_array = _is_array(raw)
        kind = (_decode_array_kind if is_array else _decode_map_kind)(raw).type
        if kind == "AllBlocksCleared":
            yield AllBlocksCleared()
        elif (decode := (_ARRAYS if is_array else _MAPS).get(kind)) is not None:
            yield _event(decode(raw))


def _event(event: _Stored | _StoredArray | _Removed | _RemovedArray) -> KvEvent:
    hashes: tuple[BlockHash, ...] = tuple(event.block_hashes)
    group = event.group_idx if isinstance(event, _Stored | _Removed) else None
    if isinstance(event, _Removed | _RemovedArray):
        return BlockRemoved(hashes=hashes, medium=event.medium, group=group)
    tokens = tuple(event.token_ids or ())
    if tokens and len(tokens) != len(hashes) * event.block_size:
        raise ValueError(f"{len(hashes)} blocks of {event.block_size} tokens come with {len(tokens)} tokens")
    name = event.lora_name if isinstance(event, _Stored) else None
    number = None if event.lora_id is None else str(event.lora_id)
    return BlockStored(
        hashes=hashes,
        parent=event.parent_block_hash,
        token_ids=tokens,
        block_tokens=event.block_size,
        adapter=name or number,
        medium=event.medium,
        group=group,
    )


def _is_array(raw: msgspec.Raw) -> bool:
    """The first byte of a MessagePack array: short, with 16 bits of length, or with 32."""
    first = memoryview(raw)[0]
    return first & 0xF0 == 0x90 or first in (0xDC, 0xDD)
