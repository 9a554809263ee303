"""Tokenizers that merge bytes: `gpt2` in GGUF. How text is cut before merging has a name there and a pattern here."""

from pathlib import Path

import gguf
import msgspec

from heterodyne.domain.errors import WeightsUnavailable
from heterodyne.registry.gguf.head_bytes import GgufValue
from heterodyne.registry.tokenizers.document import FILE, TokenizerDocument, TokenTable, tokens_of

MODEL = "gpt2"
TYPE = gguf.TokenType
NOT_TEXT = (TYPE.CONTROL, TYPE.USER_DEFINED)
# The sign that stands for each byte in a vocabulary: itself where it is printed, else one from behind Latin-1.
_PRINTED = (*range(33, 127), *range(161, 173), *range(174, 256))
LETTERS: dict[int, str] = {byte: chr(byte) for byte in _PRINTED} | {
    byte: chr(256 + number) for number, byte in enumerate(byte for byte in range(256) if byte not in _PRINTED)
}
BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
# Words with what is before them; whatever differs between models is how digits are grouped.
_WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|{digits}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|\s*[\r\n]+"
    r"|\s+(?!\S)|\s+"
)


def _split(digits: str) -> dict[str, object]:
    return {
        "type": "Sequence",
        "pretokenizers": [
            {
                "type": "Split",
                "pattern": {"Regex": _WORDS.format(digits=digits)},
                "behavior": "Isolated",
                "invert": False,
            },
            BYTES | {"use_regex": False},
        ],
    }


# How text is cut, by llama.cpp's name for it.
CUTS: dict[str, dict[str, object]] = {
    "gpt-2": BYTES,
    "smollm": {"type": "Sequence", "pretokenizers": [{"type": "Digits", "individual_digits": True}, BYTES]},
    "llama-bpe": _split(r"\p{N}{1,3}"),
    "qwen2": _split(r"\p{N}"),
}
NORMALIZERS: dict[str, object] = {"qwen2": {"type": "NFC"}}


def is_byte_level(document: TokenizerDocument) -> bool:
    """Whether text becomes bytes before it is merged."""
    return b'"ByteLevel"' in msgspec.json.encode(document.pre_tokenizer)


def to_fields(document: TokenizerDocument, vocabulary: int, folder: Path) -> dict[str, GgufValue]:
    """Of `tokenizer.ggml.`; raises where llama.cpp has no name for the way that text is cut."""
    types = {one.content: TYPE.CONTROL if one.special else TYPE.USER_DEFINED for one in document.added_tokens}
    tokens = tokens_of(document, vocabulary, folder, {text: int(kind) for text, kind in types.items()}, TYPE.NORMAL)
    return {
        "model": MODEL,
        "pre": _cut_name(document, folder),
        "tokens": tokens.texts,
        "token_type": tokens.types,
        "merges": [f"{left} {right}" for left, right in document.model.pairs()],
    }


def to_document(tokens: TokenTable, merges: list[str], cut: str) -> dict[str, object]:
    """The members of `tokenizer.json`, post-processing aside."""
    return {
        "version": "1.0",
        "normalizer": NORMALIZERS.get(cut),
        "pre_tokenizer": CUTS[cut],
        "decoder": BYTES,
        "model": {
            "type": "BPE",
            # Names of no token fill rows that no token has; in a vocabulary they would be tokens.
            "vocab": {text: id for id, text in enumerate(tokens.texts) if tokens.types[id] != TYPE.UNUSED},
            "merges": [merge.split(" ", 1) for merge in merges],
        },
    }


def _cut_name(document: TokenizerDocument, folder: Path) -> str:
    found = _plain(document.pre_tokenizer)
    for name, cut in CUTS.items():
        if _plain(cut) == found:
            return name
    raise WeightsUnavailable(
        f"{folder / FILE}: cuts text in a way that llama.cpp has no name for; {', '.join(CUTS)} are known"
    )


def _plain(value: object) -> object:
    """Without what changes no token: where offsets are trimmed, and members that say what is said by default."""
    if isinstance(value, dict):
        dropped = {"trim_offsets", "invert"}
        return {name: _plain(one) for name, one in sorted(value.items()) if name not in dropped}
    return [_plain(one) for one in value] if isinstance(value, list) else value
