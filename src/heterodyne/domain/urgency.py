"""A request's class, and the tier of who asks: two answers to "who goes first"."""

from enum import StrEnum


class Urgency(StrEnum):
    """A request's class: how urgent it is."""

    INTERACTIVE = "interactive"
    BATCH = "batch"  # somebody waits for it, but not now
    BACKGROUND = "background"  # nobody does

    __hash__ = str.__hash__  # that of enums is written in Python


class Tier(StrEnum):
    """How far a tenant's promise goes when there is not enough for everybody."""

    GOLD = "gold"
    SILVER = "silver"
    BRONZE = "bronze"

    __hash__ = str.__hash__
