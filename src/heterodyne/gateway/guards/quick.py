"""Which bodies are looked at in the worker's own loop, and how the process beside it is told who looks."""

from collections.abc import Sequence
from string import ascii_lowercase
from typing import Final

from heterodyne.safety.policy import GuardRule
from heterodyne.safety.settings import GuardSettings

QUICK_BYTES_MAX: Final = 2048  # of plain words; some three milliseconds at worst
ANY_BYTES_MAX: Final = 640  # whatever they are
TELLING_MAX: Final = 128  # of the bytes that rules begin at: each may have several of them look around it
# Neither those of plain words and of JSON itself nor, in other scripts, any but the first of a character.
UNTOLD: Final = (ascii_lowercase + " ,.;\"'{}[]").encode() + bytes(range(0x80, 0xC0))


def is_quick(body: bytes) -> bool:
    """Whether looking at it holds up nobody."""
    size = len(body)
    return size <= ANY_BYTES_MAX or (size <= QUICK_BYTES_MAX and len(body.translate(None, UNTOLD)) <= TELLING_MAX)


def is_quick_for(rules: Sequence[GuardRule], body: bytes) -> bool:
    """The same where some guards may take their time with anything."""
    return is_quick(body) and not any(rule.is_heavy for rule in rules)


def policies_of(rules: Sequence[GuardRule]) -> tuple[tuple[str, GuardSettings], ...]:
    """The same rules, as the process beside the worker is told them."""
    return tuple((rule.policy, rule.settings) for rule in rules)
