"""Whose requests policies against abuse look at, and what of them."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from heterodyne.domain.named_scope import holds_for
from heterodyne.safety.abuse.settings import AbuseSettings

SCOPES_MAX: Final = 4096  # projects times models that are remembered; beyond it all are found anew


class Watched(Struct, frozen=True):
    """What is looked at in one project's requests to one model."""

    texts: bool  # the words of prompts, and what else their bodies ask for
    verbatim: bool  # whether they want words that are not the caller's


class AbusePolicies:
    """All of them, as a worker knows them; made anew when the settings change."""

    def __init__(self, settings: Mapping[str, AbuseSettings]) -> None:
        self._settings = tuple(settings.values())
        self._known: dict[tuple[str, str, str], Watched | None] = {}
        self.is_empty = not self._settings

    def watched(self, project: str, asked_model: str, model: str) -> Watched | None:
        """None where no policy looks; `asked_model` is the name the client used."""
        key = (project, asked_model, model)
        try:
            return self._known[key]
        except KeyError:
            pass
        if len(self._known) >= SCOPES_MAX:
            self._known.clear()
        watches = {
            one.watch
            for one in self._settings
            if holds_for(one.projects, one.models, project=project, names=(asked_model, model))
        }
        watched = Watched(watches != {"cost"}, "extraction" in watches) if watches else None
        self._known[key] = watched
        return watched
