"""What an engine tells of its KV cache, in one form for every engine: blocks come, blocks go, all are gone."""

from msgspec import Struct

BlockHash = int | bytes  # as the engine has it; only equal or not equal means anything


class BlockStored(Struct, frozen=True, kw_only=True):
    """Blocks in a row that later requests may share."""

    hashes: tuple[BlockHash, ...]
    parent: BlockHash | None  # the block before the first of them; None: they begin a sequence
    token_ids: tuple[int, ...]  # of all of them; empty: the engine does not say
    block_tokens: int
    adapter: str | None = None  # the LoRA adapter's name, or its number where it has no name; None: the model alone
    medium: str | None = None  # which memory; None: the engine has one
    group: int | None = None  # of layers that share a cache; None: the engine has one


class BlockRemoved(Struct, frozen=True, kw_only=True):
    """Blocks that are gone."""

    hashes: tuple[BlockHash, ...]
    medium: str | None = None
    group: int | None = None


class AllBlocksCleared(Struct, frozen=True, kw_only=True):
    """Every block is gone."""


KvEvent = BlockStored | BlockRemoved | AllBlocksCleared


class KvPublisher(Struct, frozen=True, kw_only=True):
    """Where an engine, or one rank of it, tells of its cache."""

    endpoint: str  # tcp://HOST:PORT
    replay: str | None = None  # where lost messages can be asked for again; None: nowhere


class KvEventBatch(Struct, frozen=True, kw_only=True):
    """What one message said; to be applied in order."""

    at_s: float  # seconds since the epoch, by the engine's clock
    rank: int | None  # of its data-parallel group; None: it has one
    events: tuple[KvEvent, ...]
    unknown: int = 0  # events of kinds we do not know, left out
