"""Every guard that looks at a text alone, by name, and one look with several of them."""

from collections.abc import Callable, Collection
from functools import lru_cache

from msgspec import Struct

from heterodyne.domain.nearest import unknown_name
from heterodyne.safety.finding import Finding
from heterodyne.safety.injection.detect import detect
from heterodyne.safety.pii.finder import PIIFinder
from heterodyne.safety.secrets import find_secrets


class GuardFinding(Struct, frozen=True, kw_only=True):
    """What one guard found, and which it was."""

    guard: str
    finding: Finding


def _find_pii(text: str) -> Collection[Finding]:
    return _pii_finder().find(text)


@lru_cache(maxsize=1)
def _pii_finder() -> PIIFinder:
    return PIIFinder()


GUARDS: dict[str, Callable[[str], Collection[Finding]]] = {
    "pii": _find_pii,
    "secrets": find_secrets,
    "injection": detect,
}


def scan(text: str, guards: Collection[str] = tuple(GUARDS)) -> list[GuardFinding]:
    """What these guards find, in the order of the text; raises UnknownName."""
    for name in guards:
        if name not in GUARDS:
            raise unknown_name("guard", name, list(GUARDS))
    found = [
        GuardFinding(guard=name, finding=finding)
        for name, find in GUARDS.items()
        if name in guards
        for finding in find(text)
    ]
    return sorted(found, key=lambda one: (one.finding.start, one.finding.end, one.guard))
