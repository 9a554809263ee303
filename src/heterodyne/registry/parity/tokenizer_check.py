"""Whether two artifacts cut texts into the same tokens: by their tables, which is all that engines go by."""

from collections.abc import Mapping
from pathlib import Path

from heterodyne.registry.gguf.opened import GgufFile
from heterodyne.registry.tokenizers.convert import CHAT_TEMPLATE, PREFIX, tokenizer_fields

# Scores are not compared: files of other makers have others that merge in the same order.
TABLES = ("tokens", "merges")
ONE = ("model", "pre", "bos_token_id", "eos_token_id", "add_bos_token", "add_eos_token")


def tokenizer_of(path: Path, vocabulary: int) -> Mapping[str, object]:
    """The fields of a GGUF, or those that a folder's tokenizer would be there."""
    return GgufFile(path).fields if path.is_file() else tokenizer_fields(path, vocabulary)


def tokenizer_difference(reference: Mapping[str, object], candidate: Mapping[str, object]) -> str | None:
    """The first difference, in words; None: none."""
    for table in TABLES:
        one, other = reference.get(PREFIX + table), candidate.get(PREFIX + table)
        if isinstance(one, list) and (found := _of_lists(table, one, other)) is not None:
            return found
    for name in ONE:
        if PREFIX + name not in candidate and name.startswith("add_"):
            continue  # an engine then does as the kind of tokenizer usually does
        one, other = reference.get(PREFIX + name), candidate.get(PREFIX + name)
        if one is not None and one != other:
            return f"the tokenizer's {name} is {other!r}, expected {one!r}"
    if reference.get(CHAT_TEMPLATE) != candidate.get(CHAT_TEMPLATE):
        return "the chat template is another one"
    return None


def _of_lists(table: str, one: list[object], other: object) -> str | None:
    if not isinstance(other, list):
        return f"the tokenizer has no {table}"
    for index, (wanted, found) in enumerate(zip(one, other, strict=False)):
        if wanted != found:
            return f"number {index} of the tokenizer's {table} is {found!r}, expected {wanted!r}"
    return None if len(one) == len(other) else f"the tokenizer has {len(other)} {table}, expected {len(one)}"
