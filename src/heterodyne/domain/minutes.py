"""Pure: sums of requests by the minute in which they were complete and by what they have in common."""

from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

from heterodyne.domain.history import Sums
from heterodyne.domain.minute_tally import MinuteTally
from heterodyne.domain.usage_tally import UsageTally

LABEL_SETS_MAX = 200  # in one minute
OTHER = "other"  # every label of what is beyond


class Labels(NamedTuple):
    """What requests of a minute are told apart by, in the order of HistoryGroup."""

    model: str
    pool: str
    hardware: str
    tier: str
    urgency: str


OTHERS = Labels(OTHER, OTHER, OTHER, OTHER, OTHER)


def minutes_of(tally: UsageTally, text: Callable[[str], str]) -> dict[int, dict[Labels, MinuteTally]]:
    """By the minute's beginning, with labels as they can be stored. The cells are left as they are."""
    minutes: dict[int, dict[Labels, MinuteTally]] = {}
    for (minute, _, *labels), cell in tally.cells.items():
        minutes.setdefault(minute, {}).setdefault(Labels(*map(text, labels)), MinuteTally()).merge(cell)
    return minutes


def merged_sums(many: Iterable[Sums]) -> Sums:
    """All of them as one."""
    tally = MinuteTally()
    for sums in many:
        tally.merge(sums)
    return tally.sums()


def bounded(tallies: dict[Labels, MinuteTally], known: Collection[Labels]) -> dict[Labels, MinuteTally]:
    """Of one minute: sets of labels beyond those that are kept become one; those that are `known` stay themselves."""
    left = LABEL_SETS_MAX - len(known)
    kept: dict[Labels, MinuteTally] = {}
    for labels, tally in tallies.items():
        if labels not in known and labels not in kept:
            if left <= 1 and labels != OTHERS:  # one place is for the others
                kept.setdefault(OTHERS, MinuteTally()).merge(tally)
                continue
            left -= 1
        if labels in kept:
            kept[labels].merge(tally)
        else:
            kept[labels] = tally
    return kept
