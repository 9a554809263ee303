"""The emulator's tokenizer: every four bytes are a token, so counts, prefixes and answers follow from the text."""

from hashlib import blake2b

PIECE_BYTES = 4
SYLLABLES = tuple(
    f" {first}{middle}{last}".encode() for first in "bdfgklmnprstvz" for middle in "aeiou" for last in "klmnrst"
)
SPREAD = 0x9E3779B97F4A7C15  # odd and without pattern, so that neighbouring positions get unlike syllables
MASK = (1 << 64) - 1


def count(text: bytes) -> int:
    """Tokens of a text."""
    return -(-len(text) // PIECE_BYTES)


def token_ids(text: bytes) -> list[int]:
    """A number for each token, the same for the same bytes."""
    return [int.from_bytes(text[at : at + PIECE_BYTES], "little") for at in range(0, len(text), PIECE_BYTES)]


def from_token_ids(ids: list[int]) -> bytes:
    """A prompt that was sent as numbers."""
    return b"".join((one & 0xFFFFFFFF).to_bytes(PIECE_BYTES, "little") for one in ids)


def block_hashes(text: bytes, block_tokens: int, salt: str) -> tuple[int, ...]:
    """Chained hashes of the full blocks; texts that begin alike under one salt have equal hashes up to there."""
    size = block_tokens * PIECE_BYTES
    link = blake2b(salt.encode(), digest_size=8).digest()
    hashes = []
    for at in range(0, len(text) - size + 1, size):
        link = blake2b(text[at : at + size], digest_size=8, key=link).digest()
        hashes.append(int.from_bytes(link, "little"))
    return tuple(hashes)


def key_of(text: bytes) -> int:
    """A number that stands for a conversation."""
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "little")


def answer(key: int, first: int, tokens: int) -> list[bytes]:
    """Tokens of the one answer this conversation gets, from position `first` on."""
    total = len(SYLLABLES)
    return [SYLLABLES[(((key ^ (at * SPREAD)) * SPREAD & MASK) >> 24) % total] for at in range(first, first + tokens)]


def answer_tokens(key: int, mean: int) -> int:
    """How long that answer is when no limit cuts it: from half to one and a half times the mean."""
    return max(1, mean // 2 + key % (mean + 1))
