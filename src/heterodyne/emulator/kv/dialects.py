"""KV events as vLLM and SGLang spell them on the wire.

A batch is `[time, [events], data parallel rank]` in both. vLLM's events are maps with a `type` (since the summer of
2026; earlier ones were arrays), SGLang's are arrays that begin with it.
"""

from collections.abc import Callable, Iterator

from heterodyne.domain.errors import InvalidSpec
from heterodyne.emulator.kv.changes import BlocksRemoved, BlocksStored, CacheCleared, Change
from heterodyne.physics.engine_kind import EngineKind

Spelling = Callable[[Change], Iterator[object]]
MEDIUM = "GPU"


def spelling_of(engine: EngineKind) -> Spelling:
    """The engine's own; an engine that publishes nothing is the order's mistake."""
    if engine is EngineKind.VLLM:
        return in_vllm
    if engine is EngineKind.SGLANG:
        return in_sglang
    way_out = {
        EngineKind.TENSORRT_LLM: "tensorrt-llm keeps its events for whoever asks: POST /kv_cache_events",
        EngineKind.LLAMACPP: "llamacpp tells nobody of its cache",
    }[engine]
    raise InvalidSpec(f"kv_events: {way_out}; leave it out, or emulate vllm or sglang")


def in_vllm(change: Change) -> Iterator[object]:
    """One map for each change."""
    if isinstance(change, CacheCleared):
        yield {"type": "AllBlocksCleared"}
    elif isinstance(change, BlocksRemoved):
        yield {"type": "BlockRemoved", "block_hashes": change.hashes, "medium": MEDIUM, "group_idx": 0}
    else:
        name = None if change.adapter is None else change.adapter.name
        yield {
            "type": "BlockStored",
            "block_hashes": change.hashes,
            "parent_block_hash": change.parent,
            "token_ids": change.token_ids,
            "block_size": change.block_tokens,
            "lora_id": None if change.adapter is None else change.adapter.number,
            "medium": MEDIUM,
            "lora_name": name,
            "extra_keys": _extra_keys(change, name),
            "group_idx": 0,
            "kv_cache_spec_kind": "full_attention",
        }


def in_sglang(change: Change) -> Iterator[object]:
    """An array for each block; hashes are signed."""
    if isinstance(change, CacheCleared):
        yield ["AllBlocksCleared"]
    elif isinstance(change, BlocksRemoved):
        for block in change.hashes:
            yield ["BlockRemoved", [_signed(block)], MEDIUM]
    else:
        size, parent = change.block_tokens, change.parent
        number = None if change.adapter is None else change.adapter.number
        for place, block in enumerate(change.hashes):
            ids = change.token_ids[place * size : (place + 1) * size]
            before = None if parent is None else _signed(parent)
            yield ["BlockStored", [_signed(block)], before, ids, size, number, MEDIUM]
            parent = block


def _extra_keys(stored: BlocksStored, adapter: str | None) -> list[list[str] | None]:
    """What besides its tokens makes a block: the adapter in every one, the salt in the first of a sequence."""
    own = [adapter] if adapter is not None else []
    keys = [own or None for _ in stored.hashes]
    if stored.salt and stored.parent is None:
        keys[0] = [*own, stored.salt]
    return keys


def _signed(block: int) -> int:
    return block - (1 << 64) if block >= 1 << 63 else block
