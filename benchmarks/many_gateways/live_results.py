"""What a live run of four gateways came to."""

from pathlib import Path

from msgspec import Struct

RESULTS = Path(__file__).with_name("live.json")


class Live(Struct, frozen=True, kw_only=True):
    """One run."""

    at: str
    gateways: int
    replicas: int
    rate: float  # requests a second
    away_s: float  # that Redis was killed for
    outcomes: dict[str, int]  # by phase and what clients got
    back_s: float  # from Redis being back until every gateway heard of every other
    broken: int  # answers that broke off with the gateway that was killed
    whole: int  # that clients got
    booked_whole: int
    booked_killed: int
    hottest: float  # requests of the replica with the most, over the mean
    coldest: float
