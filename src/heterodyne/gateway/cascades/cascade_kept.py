"""A request that a cheap model's answer was kept for."""

from typing import final

from heterodyne.domain.cache_use import CASCADE_POOL, EventEdit


@final
class CascadeKept:
    """The answer, until it is told. What the cheap model cost stands in a record of its own."""

    __slots__ = ("body",)

    def __init__(self, body: bytes) -> None:
        self.body = body

    @property
    def outcome(self) -> str:
        return ""

    @property
    def pool(self) -> str:
        return CASCADE_POOL

    @property
    def saved_usd(self) -> float | None:
        return None

    @property
    def header(self) -> bytes:
        return b""

    def take(self, body: bytes) -> None:
        raise AssertionError("no replica is asked")

    def watch(self, edit: EventEdit | None) -> EventEdit:
        raise AssertionError("no replica is asked")

    def settle(self, *, is_whole: bool, model: str, version: str, usd: float) -> None:
        """It was never asked of a replica."""
