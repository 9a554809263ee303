"""Tokenizers that merge characters and fall back to bytes: `llama` in GGUF, where each piece has a score."""

from pathlib import Path

import gguf

from heterodyne.registry.gguf.head_bytes import GgufValue
from heterodyne.registry.tokenizers.document import TokenizerDocument, TokenTable, tokens_of

MODEL = "llama"
TYPE = gguf.TokenType
SPACE = "\u2581"
SPACES_BACK: dict[str, object] = {"type": "Replace", "pattern": {"String": SPACE}, "content": " "}


def to_fields(document: TokenizerDocument, vocabulary: int, folder: Path, unknown: str | None) -> dict[str, GgufValue]:
    """Of `tokenizer.ggml.`. A piece scores by when it is merged, which is all that llama.cpp asks of scores."""
    types = {one.content: TYPE.CONTROL if one.special else TYPE.USER_DEFINED for one in document.added_tokens}
    types |= {f"<0x{byte:02X}>": TYPE.BYTE for byte in range(256)}
    if unknown is not None:
        types[unknown] = TYPE.UNKNOWN
    tokens = tokens_of(document, vocabulary, folder, {text: int(kind) for text, kind in types.items()}, TYPE.NORMAL)
    ranks: dict[str, int] = {}
    pairs = document.model.pairs()
    for rank, (left, right) in enumerate(pairs):
        ranks.setdefault(left + right, rank)
    last = len(pairs)
    return {
        "model": MODEL,
        "pre": "default",
        "tokens": tokens.texts,
        "token_type": tokens.types,
        "scores": [-float(ranks.get(text, last)) for text in tokens.texts],
        "add_space_prefix": _prefixes(document),
    }


def to_document(tokens: TokenTable, scores: list[float], *, adds_space: bool, unknown: str | None) -> dict[str, object]:
    """The members of `tokenizer.json`, post-processing aside."""
    before: list[object] = [{"type": "Prepend", "prepend": SPACE}] if adds_space else []
    after: list[object] = [{"type": "Strip", "content": " ", "start": 1, "stop": 0}] if adds_space else []
    spaces: dict[str, object] = {"type": "Replace", "pattern": {"String": " "}, "content": SPACE}
    return {
        "version": "1.0",
        "normalizer": {"type": "Sequence", "normalizers": [*before, spaces]},
        "pre_tokenizer": None,
        "decoder": {
            "type": "Sequence",
            "decoders": [SPACES_BACK, {"type": "ByteFallback"}, {"type": "Fuse"}, *after],
        },
        "model": {
            "type": "BPE",
            "unk_token": unknown,
            "fuse_unk": True,
            "byte_fallback": True,
            "vocab": {text: id for id, text in enumerate(tokens.texts) if tokens.types[id] != TYPE.UNUSED},
            "merges": _merges(tokens, scores),
        },
    }


def _merges(tokens: TokenTable, scores: list[float]) -> list[list[str]]:
    """Every way to put a piece together of two others, the best pieces first."""
    ids = {text: id for id, text in enumerate(tokens.texts) if tokens.types[id] == TYPE.NORMAL}
    found: list[tuple[float, int, int, str, str]] = []
    for text, id in ids.items():
        for at in range(1, len(text)):
            left, right = ids.get(text[:at]), ids.get(text[at:])
            if left is not None and right is not None:
                found.append((-scores[id], left, right, text[:at], text[at:]))
    return [[left, right] for *_, left, right in sorted(found)]


def _prefixes(document: TokenizerDocument) -> bool:
    """Whether a space goes before every text."""
    normalizer = document.normalizer or {}
    inner = normalizer.get("normalizers", [normalizer])
    return isinstance(inner, list) and any(isinstance(one, dict) and one.get("type") == "Prepend" for one in inner)
