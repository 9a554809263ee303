"""What comes of a text, a body or an answer once every rule has looked at it."""

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct

from heterodyne.domain.guard_verdict import Direction, GuardVerdict
from heterodyne.safety.look import Found, verdict
from heterodyne.safety.policy import GuardRule
from heterodyne.safety.structure.expected import ANYTHING

UNREADABLE: Final = "unreadable"  # the rule of a verdict on what no guard can look into
FINDINGS_MAX = 256  # of one document that are told; a text may be nothing but findings


class Guarded(Struct, frozen=True, kw_only=True):
    """The outcome; beside it stands the body, which may be another one."""

    verdicts: tuple[GuardVerdict, ...] = ()
    values: Mapping[str, str] = {}  # by placeholder, what is put back in the answer
    blocked: GuardVerdict | None = None  # why nothing of it goes on
    system_runs: tuple[str, ...] = ()  # of a request: words in a row that its answer may not tell
    expected: bytes = ANYTHING  # of a request: what it lets its answer be, where a rule wants to know


NOTHING_FOUND = Guarded()


def told(found: Iterable[Found], direction: Direction) -> tuple[GuardVerdict, ...]:
    """A verdict for each; what blocks is never among those that are left out because there are too many."""
    every = [verdict(one, direction) for one in found]
    if len(every) > FINDINGS_MAX:
        every.sort(key=lambda one: one.action != "block")
    return tuple(every[:FINDINGS_MAX])


def unreadable(rule: GuardRule) -> GuardVerdict:
    """The verdict on a prompt that stands as token ids."""
    return GuardVerdict(
        policy=rule.policy,
        guard=rule.settings.guard,
        version=rule.version,
        rule=UNREADABLE,
        action=rule.action,
        direction="input",
    )
