"""Which policy says whether a request's answer is kept: the first of the settings that holds for it."""

from collections.abc import Mapping
from typing import Final

from heterodyne.caching.settings import CacheSettings
from heterodyne.domain.named_scope import holds_for

CHOICES_MAX: Final = 4096  # projects times models that are remembered; beyond it all are found anew


class CachePolicy:
    """All policies. One per worker, made anew when the settings change."""

    def __init__(self, settings: Mapping[str, CacheSettings]) -> None:
        self._settings = tuple(settings.values())
        self._choices: dict[tuple[str, str, str], CacheSettings | None] = {}
        self.is_empty = not self._settings

    def choice(self, project: str, asked_model: str, model: str) -> CacheSettings | None:
        """None where nothing is kept; `asked_model` is the name the client used."""
        key = (project, asked_model, model)
        try:
            return self._choices[key]
        except KeyError:
            pass
        if len(self._choices) >= CHOICES_MAX:
            self._choices.clear()
        names = (asked_model, model)
        fitting = (one for one in self._settings if holds_for(one.projects, one.models, project=project, names=names))
        choice = self._choices[key] = next(fitting, None)
        return choice
