"""Texts of public evaluation sets, to judge builds on others than our own."""

import gzip
import lzma
from collections.abc import Iterator
from pathlib import Path
from random import Random

import msgspec

SETS = {  # by file, the member that is a text
    "gsm8k_test.jsonl.gz": "question",
    "HumanEval.jsonl.gz": "prompt",
    "ifeval_input_data.jsonl.gz": "prompt",
    "bbh.jsonl.xz": "input",
}


def public_texts(folder: Path, count: int, seed: int) -> list[str]:
    """So many in all, the same number of each set."""
    random = Random(seed)
    share = -(-count // len(SETS))
    found = [
        text for file, member in SETS.items() for text in random.sample(list(_texts(folder / file, member)), share)
    ]
    random.shuffle(found)
    return found[:count]


def _texts(path: Path, member: str) -> Iterator[str]:
    opener = gzip.open if path.suffix == ".gz" else lzma.open
    with opener(path, "rb") as lines:
        for line in lines:
            yield str(msgspec.json.decode(line)[member])
