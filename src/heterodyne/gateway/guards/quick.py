"""Which bodies are looked at in the worker's own loop, and how the process beside it is told who looks."""

from collections.abc import Sequence
from typing import Final

from heterodyne.safety.policy import GuardRule
from heterodyne.safety.settings import GuardSettings

QUICK_BYTES_MAX: Final = 4096  # some two milliseconds at worst
QUICK_DIGITS_MAX: Final = 64  # numbers take the longest: each may be of many kinds
NO_DIGITS: Final = bytes(set(range(256)) - set(b"0123456789"))


def is_quick(body: bytes) -> bool:
    """Whether looking at it holds up nobody."""
    return len(body) <= QUICK_BYTES_MAX and len(body.translate(None, NO_DIGITS)) <= QUICK_DIGITS_MAX


def is_quick_for(rules: Sequence[GuardRule], body: bytes) -> bool:
    """The same where some guards may take their time with anything."""
    return is_quick(body) and not any(rule.is_heavy for rule in rules)


def policies_of(rules: Sequence[GuardRule]) -> tuple[tuple[str, GuardSettings], ...]:
    """The same rules, as the process beside the worker is told them."""
    return tuple((rule.policy, rule.settings) for rule in rules)
