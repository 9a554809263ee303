"""A policy's Presidio, which is loaded when it first looks at a text: in the process beside a worker alone."""

import re
from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from heterodyne.domain.errors import InvalidSpec
from heterodyne.safety.finding import Finding
from heterodyne.safety.settings import GuardSettings

if TYPE_CHECKING:
    from heterodyne.safety.presidio.analyzer import Analyzer

PACKAGE: Final = "presidio_analyzer"
INSTALL: Final = "pip install 'heterodyne[presidio]'"
SCORE_MIN: Final = 0.35  # where the policy does not say; Presidio reports numbers of any kind with less
ENTITY: Final = re.compile(r"[A-Z][A-Z0-9_]{1,63}")
LANGUAGE: Final = re.compile(r"[a-z]{2}")
LOADED_MAX: Final = 4  # of a process; each takes some hundred megabytes


def presidio_finder(settings: GuardSettings) -> Callable[[str], list[Finding]]:
    """Raises InvalidSpec where it is not installed, or has no such model."""
    if find_spec(PACKAGE) is None:
        raise InvalidSpec(f"the guard `presidio` needs the package presidio-analyzer; {INSTALL}")
    model, language = settings.spacy_model, settings.language or "en"
    if model is not None and (not model.isidentifier() or find_spec(model) is None):
        raise InvalidSpec(f"`spacy_model` names {model!r}, which is not installed; python -m spacy download {model}")
    if LANGUAGE.fullmatch(language) is None:
        raise InvalidSpec(f"`language` is {language!r}, and not two letters such as `en`")
    for kind in settings.kinds:
        if ENTITY.fullmatch(kind) is None:
            raise InvalidSpec(f"`kinds` has {kind!r}; entities of Presidio are spelt as `EMAIL_ADDRESS` is")
    score_min = settings.score_min or SCORE_MIN

    def find(text: str) -> list[Finding]:
        return _analyzer(language, model).find(text, settings.kinds, score_min)

    return find


@lru_cache(maxsize=LOADED_MAX)
def _analyzer(language: str, model: str | None) -> "Analyzer":
    from heterodyne.safety.presidio.analyzer import Analyzer

    return Analyzer(language, model)
