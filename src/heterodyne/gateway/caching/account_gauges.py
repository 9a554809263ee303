"""What accounts of wrong answers say, as gauges: of every policy those of its tenants together."""

from heterodyne.caching.semantic.decision import SemanticDecider
from heterodyne.telemetry import metrics


class AccountGauges:
    """One per worker."""

    def __init__(self) -> None:
        self._noted: dict[SemanticDecider, tuple[str, int, int]] = {}

    def decided(self, cache: str, decider: SemanticDecider) -> None:
        """It has one request more."""
        figures = decider.figures()
        self._move(decider, cache, figures.requests, figures.wrong_max)

    def learned(self, cache: str, decider: SemanticDecider) -> None:
        """It knows more of those that it had; one that was forgotten meanwhile stays so."""
        if decider in self._noted:
            self.decided(cache, decider)

    def forget(self, decider: SemanticDecider) -> None:
        """It decides nothing any more."""
        noted = self._noted.get(decider)
        if noted is not None:
            self._move(decider, noted[0], 0, 0)
            del self._noted[decider]

    def clear(self) -> None:
        """None does."""
        for decider in tuple(self._noted):
            self.forget(decider)

    def _move(self, decider: SemanticDecider, cache: str, requests: int, wrong_max: int) -> None:
        _, requests_before, wrong_before = self._noted.get(decider, (cache, 0, 0))
        self._noted[decider] = (cache, requests, wrong_max)
        metrics.semantic_cache_requests.add((cache,), requests - requests_before)
        metrics.semantic_cache_wrong_max.add((cache,), wrong_max - wrong_before)
