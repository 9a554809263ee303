"""What a step changed in the prefix cache, in a form every wire dialect can be made of."""

from collections.abc import Iterator

from msgspec import Struct

from heterodyne.emulator import tokenizer
from heterodyne.emulator.adapters import Adapter
from heterodyne.emulator.engine import EmulatedEngine
from heterodyne.physics.replica.step import StepResult, StoredBlocks


class BlocksStored(Struct, frozen=True, kw_only=True):
    """Blocks in a row that others may share now."""

    hashes: tuple[int, ...]
    parent: int | None  # the block before the first of them; None: they begin a sequence
    token_ids: list[int]  # of all of them
    block_tokens: int
    adapter: Adapter | None = None
    salt: str = ""


class BlocksRemoved(Struct, frozen=True, kw_only=True):
    """Blocks that are gone."""

    hashes: tuple[int, ...]


class CacheCleared(Struct, frozen=True, kw_only=True):
    """All blocks are gone."""


Change = BlocksStored | BlocksRemoved | CacheCleared


def changes(engine: EmulatedEngine, ended: StepResult) -> list[Change]:
    """Applied in order they give what is in memory after the step.

    Within a step a block may go and come back, or come and go at once: removals come first, and of what was
    stored only what is still there.
    """
    found: list[Change] = []
    if ended.removed:
        found.append(BlocksRemoved(hashes=ended.removed))
    for stored in ended.stored:
        found.extend(_stored(engine, stored))
    return found


def _stored(engine: EmulatedEngine, stored: StoredBlocks) -> Iterator[BlocksStored]:
    planned = engine.planned(stored.job.id)
    if planned is None:
        return
    hashes, known = stored.job.blocks, engine.machine.blocks.known
    block_tokens = engine.order.scheduling.block_tokens
    size = block_tokens * tokenizer.PIECE_BYTES
    text = planned.text + b"".join(planned.tokens)
    adapter = None if planned.adapter is None else engine.adapters.get(planned.adapter)
    for first, last in _rows([index for index in stored.indices if known(hashes[index : index + 1])]):
        yield BlocksStored(
            hashes=hashes[first : last + 1],
            parent=hashes[first - 1] if first else None,
            token_ids=tokenizer.token_ids(text[first * size : (last + 1) * size]),
            block_tokens=block_tokens,
            adapter=adapter,
            salt=planned.salt if first == 0 else "",
        )


def _rows(indices: list[int]) -> Iterator[tuple[int, int]]:
    """Neighbours together: first and last of each row."""
    first = None
    for place, index in enumerate(indices):
        if first is None:
            first = index
        if place + 1 == len(indices) or indices[place + 1] != index + 1:
            yield first, index
            first = None
