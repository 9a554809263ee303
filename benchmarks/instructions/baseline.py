"""What was counted before, by kind of machine: only the same interpreter on the same processor can be compared."""

import platform
import sysconfig
from hashlib import sha256
from pathlib import Path

import msgspec

from benchmarks.instructions.measure import Counted

FILE = Path(__file__).with_name("baseline.json")
GROWTH_MAX = 0.05


def machine_kind() -> str:
    """Processor, Python, and how that Python was built."""
    built = sha256((sysconfig.get_config_var("CONFIG_ARGS") or "").encode()).hexdigest()[:8]
    return f"{platform.machine()}, {platform.python_implementation()} {platform.python_version()}, build {built}"


def read() -> dict[str, tuple[Counted, ...]]:
    """Of every kind of machine that was measured."""
    return msgspec.json.decode(FILE.read_bytes(), type=dict[str, tuple[Counted, ...]]) if FILE.exists() else {}


def write(found: tuple[Counted, ...]) -> None:
    """For this kind of machine; what was not measured now is kept."""
    kept, now = read(), {one.title for one in found}
    before = kept.get(machine_kind(), ())
    kept[machine_kind()] = tuple(
        sorted((*found, *(one for one in before if one.title not in now)), key=lambda one: one.title)
    )
    FILE.write_bytes(msgspec.json.format(msgspec.json.encode(kept), indent=1) + b"\n")


def growths(found: tuple[Counted, ...]) -> tuple[str, ...]:
    """Sentences about what grew by more than may pass without a word."""
    known = {one.title: one.own for one in read().get(machine_kind(), ())}
    return tuple(
        f"{one.title}: {one.own:,} instructions per request, {one.own / before - 1:+.1%} beside {before:,}"
        for one in found
        if (before := known.get(one.title)) is not None and one.own > before * (1 + GROWTH_MAX)
    )
