"""One look at a text with several guards, each as it is without a policy."""

from collections.abc import Collection
from functools import cache

from msgspec import Struct

from heterodyne.domain.errors import InvalidSpec
from heterodyne.safety.finding import Finding
from heterodyne.safety.glance import Glance
from heterodyne.safety.registry import Look, guard_named
from heterodyne.safety.settings import GuardSettings

SCANNED = ("pii", "secrets", "injection")  # those that need no words of their own


class GuardFinding(Struct, frozen=True, kw_only=True):
    """What one guard found, and which it was."""

    guard: str
    finding: Finding


def scan(text: str, guards: Collection[str] = SCANNED) -> list[GuardFinding]:
    """What these guards find, in the order of the text; raises UnknownName."""
    glance = Glance(text)
    found = [GuardFinding(guard=name, finding=finding) for name in guards for finding in _look(name)(glance)]
    return sorted(found, key=lambda one: (one.finding.start, one.finding.end, one.guard))


@cache
def _look(name: str) -> Look:
    finder = guard_named(name).make(GuardSettings(guard=name))
    if finder.inspector is not None:
        raise InvalidSpec(f"the guard `{name}` looks at no words; `heterodyne guards try` has a policy look at a body")
    return finder.look
