"""Weights in several GGUF files: `NAME-00001-of-00003.gguf` and those that follow. llama.cpp is given the first and
finds the others beside it, so a hash of the weights is a hash of all of them."""

import re
from pathlib import Path

from heterodyne.domain.errors import WeightsUnavailable

_SHARD = re.compile(r"(?P<name>.*)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf")


def shards_of(file: Path) -> tuple[Path, ...]:
    """Every file that belongs to this one, in their order, whether it is there or not; itself where it is whole."""
    found = _SHARD.fullmatch(file.name)
    if found is None or int(found["number"]) != 1:
        return (file,)
    count = found["count"]
    return tuple(file.with_name(f"{found['name']}-{number:05d}-of-{count}.gguf") for number in range(1, int(count) + 1))


def check_shards(file: Path) -> None:
    """Raise where the file is one of several and is not the first, or the others are not beside it."""
    found = _SHARD.fullmatch(file.name)
    if found is not None and int(found["number"]) != 1:
        raise WeightsUnavailable(
            f"weights: {file.name} is number {int(found['number'])} of {int(found['count'])} files; name the first, or "
            "the folder they are in"
        )
    missing = [shard.name for shard in shards_of(file) if not shard.is_file()]
    if missing:
        raise WeightsUnavailable(
            f"weights: {file.name} is the first of {len(shards_of(file))} files, and {', '.join(missing[:3])}"
            f"{' …' if len(missing) > 3 else ''} {'is' if len(missing) == 1 else 'are'} not beside it; name a folder "
            "that holds all of them"
        )
