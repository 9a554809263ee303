"""The lines of a batch whose prompts begin alike in groups, as classifications and extractions over a corpus do."""

import json
from random import Random
from typing import Final

from heterodyne.emulator.tokenizer import PIECE_BYTES

LETTERS: Final = "abcdefghijklmnopqrstuvwxyz     "


class BatchShape:
    """So many lines in so many groups; all of a group begin with the same tokens. Groups are mixed in the file."""

    def __init__(self, *, lines: int, groups: int, shared_tokens: int, own_tokens: int, output_tokens: int) -> None:
        self.lines = lines
        self.groups = groups
        self.shared_tokens = shared_tokens
        self.own_tokens = own_tokens
        self.output_tokens = output_tokens

    @property
    def shareable_tokens(self) -> int:
        """Of prompts, what another line before has had computed, if caches kept everything."""
        return (self.lines - self.groups) * self.shared_tokens

    def write(self, model: str, seed: int) -> bytes:
        """As a file."""
        chance = Random(f"batch {seed}")
        begins = [self._words(chance, self.shared_tokens) for _ in range(self.groups)]
        groups = [number % self.groups for number in range(self.lines)]
        chance.shuffle(groups)
        told = []
        for number, group in enumerate(groups):
            prompt = begins[group] + self._words(chance, self.own_tokens)
            body = {
                "model": model,
                "prompt": prompt,
                "max_tokens": self.output_tokens,
                "min_tokens": self.output_tokens,
            }
            line = {"custom_id": f"line-{number}", "method": "POST", "url": "/v1/completions", "body": body}
            told.append(json.dumps(line))
        return "\n".join(told).encode() + b"\n"

    @staticmethod
    def _words(chance: Random, tokens: int) -> str:
        return "".join(chance.choices(LETTERS, k=PIECE_BYTES * tokens))
