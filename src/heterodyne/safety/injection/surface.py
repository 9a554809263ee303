"""What a text looks like from outside: which rules found something in it, and a few proportions."""

from collections.abc import Sequence
from typing import Final

from heterodyne.safety.finding import Finding
from heterodyne.safety.injection import heuristics

NAMES: Final = (*heuristics.RULES, "capitals", "repetition", "foreign")


_CAPITALS: Final = bytes(range(ord("A"), ord("Z") + 1))


def features(text: str, findings: Sequence[Finding], data: bytes) -> list[float]:
    """One number from 0 to 1 per name of `NAMES`, of one window; `data` is it normalised."""
    rules = {found.rule for found in findings}
    encoded = text.encode("utf-8", "replace")
    capitals = len(encoded) - len(encoded.translate(None, _CAPITALS))
    characters = len(text) or 1
    words = data.split()
    return [
        *(1.0 if rule in rules else 0.0 for rule in heuristics.RULES),
        min(1.0, 4 * capitals / characters),
        1 - len(set(words)) / len(words) if words else 0.0,
        min(1.0, 2 * (len(encoded) - len(text)) / characters),
    ]
