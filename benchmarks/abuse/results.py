"""What was counted, before it is a page."""

from typing import NamedTuple

from benchmarks.abuse.cost import Costs


class OrdinaryRow(NamedTuple):
    """One source, as an hour of a hundred keys."""

    source: str
    prompts: int
    similar: int  # keys that share a prompt with too many
    extraction: int  # keys that copy
    verbatim: int  # prompts that are taken for asking for words of others


class CampaignRow(NamedTuple):
    """Campaigns of one size."""

    keys: int
    changed: float  # share of words
    found: float  # share of keys
    prompts: int | None  # that a key had sent when it was found, the median; None: none was
    innocent: int  # keys that were found beside them


class Reworded(NamedTuple):
    """Pairs of questions that people have judged."""

    same: int
    same_share: float  # that are taken for one prompt
    other: int
    other_share: float


class ClientRows(NamedTuple):
    """Clients of the trace as they are."""

    clients: int
    active_hours: float
    alarms: int
    alarmed: int  # clients


class TheftRow(NamedTuple):
    """Clients of the trace with a thief."""

    factor: float
    clients: int
    found: int
    hours: float | None  # until it was found, the median


class Results(NamedTuple):
    """Everything."""

    ordinary: list[OrdinaryRow]
    evaluations: list[OrdinaryRow]
    campaigns: list[CampaignRow]
    reworded: Reworded
    drawn: dict[float, float]  # false alarms of a key in a year, by the spread of its hours
    clients: ClientRows
    thefts: list[TheftRow]
    costs: Costs
