"""A prompt as a chain of hashed blocks: two prompts of one tenant that begin alike have equal hashes up to there.

No tokenizer: blocks are of bytes, and how many tokens they stand for is an estimate. Hashes are the same in every
process, each depends on everything before it and on the tenant's salt, and only complete blocks count.
"""

from array import array
from collections.abc import Iterable, Sequence
from functools import lru_cache
from hashlib import sha256
from itertools import accumulate
from struct import pack, unpack
from sys import byteorder
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from hashlib import _Hash as Hash

ID_BYTES = 4  # a token id counts as much as the text it usually stands for
NUMBER_MAX = (1 << 64) - 1
# Small blocks where most prompts end or part, large ones where a prompt is long anyway. In bytes.
BLOCK_ENDS = tuple(accumulate([256] * 2 + [512] * 15 + [1024] * 24 + [4096] * 504))
PROMPT_BYTES_MAX = BLOCK_ENDS[-1]  # beyond it nothing is hashed: half a million tokens, or an image


class Chain(NamedTuple):
    """Blocks of a prompt, from its beginning."""

    hashes: tuple[int, ...]  # 64 bits each
    ends: tuple[int, ...]  # prompt tokens up to the end of each block


EMPTY = Chain((), ())


def salt_of(tenant: bytes, adapter: str = "") -> bytes:
    """What keeps apart the chains of two tenants, and of a model with and without a LoRA adapter."""
    return pack("<I", len(tenant)) + tenant + adapter.encode()


def chain_of(salt: bytes, prompt: bytes, tokens_per_byte: float) -> Chain:
    """The chain of a text prompt."""
    return _chain(begin(b"text", salt), prompt, tokens_per_byte)


def chain_of_ids(salt: bytes, ids: Sequence[int]) -> Chain:
    """The chain of a prompt of token ids; ids that no tokenizer has make it empty, and the engine will refuse them."""
    try:
        packed = pack_ids(ids[: PROMPT_BYTES_MAX // ID_BYTES])
    except OverflowError:
        return EMPTY
    return _chain(begin(b"ids", salt), packed, 1 / ID_BYTES)


def chain_of_blocks(salt: bytes, prefix_hashes: Iterable[int], block_tokens: int) -> Chain:
    """The chain of blocks that others have hashed, each with all before it, as traces have them.

    The last block of a trace's prompt is often incomplete and is for the caller to leave out.
    """
    own = _salt_number(salt)
    hashes = tuple([(one & NUMBER_MAX) ^ own for one in prefix_hashes])
    return Chain(hashes, tuple(range(block_tokens, block_tokens * len(hashes) + 1, block_tokens)))


def begin(kind: bytes, salt: bytes) -> "Hash":
    """The hash of nothing yet, under this salt."""
    return _beginning(kind, salt).copy()


def pack_ids(ids: Sequence[int]) -> bytes:
    """The bytes that stand for token ids; raises `OverflowError` for what is none."""
    packed = array("I", ids)
    if byteorder == "big":
        packed.byteswap()
    return packed.tobytes()


def number_of(state: "Hash") -> int:
    """The block's hash, when everything up to its end has been fed to `state`."""
    return int.from_bytes(state.digest()[:8], "little")


def _chain(state: "Hash", prompt: bytes, tokens_per_byte: float) -> Chain:
    # One running SHA-256, read at every block's end: where processors compute it in hardware it is twice as fast as
    # BLAKE2, and the numbers are made from the digests at once because that is faster than one by one.
    update, copy = state.update, state.copy
    size, start = len(prompt), 0
    digests = []
    for end in BLOCK_ENDS:
        if end > size:
            break
        update(prompt[start:end])
        digests.append(copy().digest()[:8])
        start = end
    blocks = len(digests)
    if not blocks:
        return EMPTY
    ends = tuple([int(end * tokens_per_byte) for end in BLOCK_ENDS[:blocks]])
    return Chain(unpack(f"<{blocks}Q", b"".join(digests)), ends)


@lru_cache(maxsize=4096)
def _beginning(kind: bytes, salt: bytes) -> "Hash":
    return sha256(pack("<II", len(kind), len(salt)) + kind + salt)


@lru_cache(maxsize=4096)
def _salt_number(salt: bytes) -> int:
    return number_of(begin(b"blocks", salt))
