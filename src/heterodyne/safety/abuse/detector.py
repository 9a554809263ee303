"""All policies against abuse over all requests of a gateway: signs in, findings out."""

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Final

from heterodyne.domain.abuse_sign import AbuseSign
from heterodyne.domain.named_scope import holds_for
from heterodyne.safety.abuse.cost_anomaly import CostAnomaly, SavedSpending
from heterodyne.safety.abuse.extraction import Extraction
from heterodyne.safety.abuse.finding import AbuseFinding
from heterodyne.safety.abuse.settings import AbuseSettings, Watch
from heterodyne.safety.abuse.similar_prompts import SimilarPrompts

Detector = SimilarPrompts | Extraction | CostAnomaly
DETECTORS: Final[Mapping[Watch, type[Detector]]] = {
    "similar_prompts": SimilarPrompts,
    "extraction": Extraction,
    "cost": CostAnomaly,
}
SCOPES_MAX: Final = 4096


class AbuseDetector:
    """One per gateway."""

    def __init__(self, settings: Mapping[str, AbuseSettings] | None = None) -> None:
        self._settings: dict[str, AbuseSettings] = {}
        self._detectors: dict[str, Detector] = {}
        self._holding = lru_cache(SCOPES_MAX)(self._found_holding)
        self.configure(settings or {})

    def configure(self, settings: Mapping[str, AbuseSettings]) -> None:
        """Other policies; those that stay as they are know what they knew."""
        detectors = {}
        for name, one in settings.items():
            kept = self._detectors.get(name) if self._settings.get(name) == one else None
            detectors[name] = DETECTORS[one.watch](name, one) if kept is None else kept
        self._settings, self._detectors = dict(settings), detectors
        self._holding.cache_clear()

    def observe(self, sign: AbuseSign) -> list[AbuseFinding]:
        """What it makes known."""
        found: list[AbuseFinding] = []
        for name in self._holding(sign.project, sign.asked_model, sign.model, sign.key):
            found += self._detectors[name].observe(sign)
        return found

    def saved(self) -> list[SavedSpending]:
        """What is worth keeping over a restart: figures of dollars, nothing of prompts."""
        return [saved for one in self._detectors.values() if isinstance(one, CostAnomaly) for saved in one.saved()]

    def recall(self, saved: Iterable[SavedSpending], at: float) -> None:
        """Go on from an earlier life, as far as its policies are there."""
        for one in saved:
            detector = self._detectors.get(one.policy)
            if isinstance(detector, CostAnomaly):
                detector.recall(one, at)

    def _found_holding(self, project: str, asked_model: str, model: str, key: str) -> tuple[str, ...]:
        return tuple(
            name
            for name, one in self._settings.items()
            if holds_for(one.projects, one.models, project=project, names=(asked_model, model))
            and not any(fnmatchcase(key, exempt) for exempt in one.exempt_keys)
        )
