"""Which policy says whether a request's answer is kept: the first of the settings that holds for it."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from heterodyne.caching.settings import CacheSettings
from heterodyne.domain.named_scope import holds_for

CHOICES_MAX: Final = 4096  # projects times models that are remembered; beyond it all are found anew


class NamedCache(NamedTuple):
    """One of the settings."""

    name: str
    settings: CacheSettings


class CachePolicy:
    """All policies. One per worker, made anew when the settings change."""

    def __init__(self, settings: Mapping[str, CacheSettings]) -> None:
        self._caches = tuple(NamedCache(name, one) for name, one in settings.items())
        self._choices: dict[tuple[str, str, str], NamedCache | None] = {}
        self.is_empty = not self._caches
        self.compares_meanings = any(one.semantic != "off" for one in settings.values())

    def choice(self, project: str, asked_model: str, model: str) -> NamedCache | None:
        """None where nothing is kept; `asked_model` is the name the client used."""
        key = (project, asked_model, model)
        try:
            return self._choices[key]
        except KeyError:
            pass
        if len(self._choices) >= CHOICES_MAX:
            self._choices.clear()
        names = (asked_model, model)
        choice = self._choices[key] = next((one for one in self._caches if _holds(one, project, names)), None)
        return choice


def _holds(cache: NamedCache, project: str, names: tuple[str, str]) -> bool:
    return holds_for(cache.settings.projects, cache.settings.models, project=project, names=names)
