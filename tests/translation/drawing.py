"""Texts, objects and pictures drawn by a seed: with what parsers, escapes and streams stumble over."""

import json
from base64 import b64encode
from itertools import pairwise
from random import Random
from typing import Any

from tests.translation.meant import Json

NASTY = (
    '"',
    "\\",
    "\\n",
    "\n",
    "\r\n",
    "\n\n",
    "\t",
    " ",
    "\u2028",
    "\x7f",
    "\x1b[0m",
    "é",
    "e\u0301",
    "שלום",
    "日本語",
    "👩‍👩‍👧",
    "𝔘",
    "\ufeff",
    "\u200b",
    "data: [DONE]\n\n",
    "event: error\n",
    '{"a": [1, "b"]}',
    "</think>",
    "<|im_end|>",
    "```json\n",
    "%s {0} ${x}",
    "\\u0041",
    "null",
    "Graz",
    "hello ",
)
PICTURES = ("image/png", "image/jpeg", "image/webp", "image/gif")
NUMBERS = (0, -1, 2**53 - 1, 0.1, 1e-7, 2.5)


class Drawing:
    """Everything that one cell of the matrix draws, the same in every run."""

    def __init__(self, seed: str) -> None:
        self.random = Random(seed)

    def text(self) -> str:
        """Never empty, now and then nothing but space."""
        return "".join(self.random.choices(NASTY, k=self.random.randint(1, 6)))

    def object(self, depth: int = 2) -> Json:
        """For arguments and results; perhaps empty."""
        return {self.text(): self._value(depth) for _ in range(self.random.randint(0, 3))}

    def schema(self) -> Json:
        """Of an object, with names that need escapes."""
        inner = {"type": "array", "items": {"type": "string", "enum": [self.text(), "type"]}}
        properties = {"type": {"type": "string", "description": self.text()}, self.text(): inner}
        names = list(properties)
        return {"type": "object", "properties": properties, "required": names, "additionalProperties": False}

    def picture(self, *, has_addresses: bool = True) -> str:
        """An address, or the data itself."""
        if has_addresses and self.random.random() < 0.25:
            return f"https://example.org/{self.random.randint(0, 999)}.png?a=b&c=%20"
        data = b64encode(self.random.randbytes(self.random.randint(1, 400))).decode()
        return f"data:{self.random.choice(PICTURES)};base64,{data}"

    def pieces(self, text: str) -> list[str]:
        """The text in a few pieces."""
        cuts = sorted(self.random.randint(0, len(text)) for _ in range(3))
        ends = [0, *cuts, len(text)]
        return [text[begin:end] for begin, end in pairwise(ends) if begin < end]

    def json(self, value: Json) -> str:
        """As one engine or another writes it."""
        is_tight, is_ascii = self.random.random() < 0.5, self.random.random() < 0.5
        return json.dumps(value, ensure_ascii=is_ascii, separators=(",", ":") if is_tight else None)

    def _value(self, depth: int) -> Any:
        kind = self.random.randint(0, 5 if depth else 3)
        if kind == 0:
            return self.random.choice((None, True, False))
        if kind == 1:
            return self.random.choice(NUMBERS)
        if kind <= 3:
            return self.text()
        return self.object(depth - 1) if kind == 4 else [self._value(depth - 1) for _ in range(2)]
