"""Texts as tokens of a model, without its tokenizer's own program: the longest token that fits, again and again.

It is not always how the model's tokenizer would cut the text, and need not be: both sides of a comparison are given the
same numbers, and they spell natural text. Whether two artifacts cut texts alike is seen in their tokenizers' tables.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from heterodyne.domain.errors import WeightsCorrupt
from heterodyne.registry.tokenizers import byte_level, sentence_piece
from heterodyne.registry.tokenizers.convert import PREFIX, tokenizer_fields


class TextTokens:
    """Of one tokenizer."""

    def __init__(self, fields: Mapping[str, object], where: str) -> None:
        """`fields` are those of a GGUF."""
        tokens, kinds = fields.get(PREFIX + "tokens"), fields.get(PREFIX + "token_type")
        if not isinstance(tokens, list) or not isinstance(kinds, list):
            raise WeightsCorrupt(f"{where}: has no tokens")
        self._is_pieces = fields.get(PREFIX + "model") == sentence_piece.MODEL
        bos = fields.get(PREFIX + "bos_token_id")
        self._first = [bos] if fields.get(PREFIX + "add_bos_token") is True and isinstance(bos, int) else []
        self._ids: dict[str, int] = {}
        self._bytes: dict[int, int] = {}
        for id, (text, kind) in enumerate(zip(tokens, kinds, strict=True)):
            if kind == byte_level.TYPE.NORMAL:
                self._ids.setdefault(str(text), id)
            elif kind == byte_level.TYPE.BYTE:
                self._bytes[int(str(text)[3:5], 16)] = id
        self._longest = max(map(len, self._ids), default=0)

    def of(self, text: str) -> list[int]:
        """The tokens; signs that the model has none for are left out."""
        signs = sentence_piece.SPACE + text.replace(" ", sentence_piece.SPACE) if self._is_pieces else _letters(text)
        found, at = list(self._first), 0
        while at < len(signs):
            length = next(
                (
                    length
                    for length in range(min(self._longest, len(signs) - at), 0, -1)
                    if signs[at : at + length] in self._ids
                ),
                0,
            )
            if length:
                found.append(self._ids[signs[at : at + length]])
            elif self._is_pieces:
                found += [self._bytes[byte] for byte in signs[at].encode() if byte in self._bytes]
            at += length or 1
        return found


def tokens_of_texts(folder: Path, vocabulary: int, texts: Sequence[str], most: int) -> list[list[int]]:
    """Each text as at most so many tokens of the model in `folder`; those too short to say anything are left out."""
    tokens = TextTokens(tokenizer_fields(folder, vocabulary), str(folder))
    return [found for text in texts if len(found := tokens.of(text)[:most]) > 1]


def _letters(text: str) -> str:
    """Its bytes, each as the sign that byte-level vocabularies write for it."""
    return "".join(byte_level.LETTERS[byte] for byte in text.encode())
