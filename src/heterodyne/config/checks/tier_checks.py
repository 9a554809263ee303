"""Whether settings by tier name tiers that there are, and models that can answer."""

from collections.abc import Iterable, Iterator, Mapping

from heterodyne.config.checks.model_checks import fallback_complaint
from heterodyne.config.fields import MODELS, dotted
from heterodyne.config.problems import SettingProblem
from heterodyne.config.served_models import purposes
from heterodyne.config.settings import Settings
from heterodyne.config.suggestions import or_nearest
from heterodyne.domain.urgency import Tier

TIERS = tuple(tier.value for tier in Tier)


def tiers_are_known(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """In every table that has a value for each of them."""
    yield from _unknown("admission.context_tokens_by_tier", settings.admission.context_tokens_by_tier)
    yield from _unknown("batches.price_by_tier", settings.batches.price_by_tier)
    for name, model in settings.models.items():
        yield from _unknown(dotted(MODELS, name, "degrade"), model.degrade)


def degraded_models_can_answer(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """The model that answers for a tier is another one, is served, and answers the same kind of request."""
    served = purposes(settings)
    aliases = {alias: name for name, model in settings.models.items() for alias in model.aliases}
    for name, model in settings.models.items():
        for tier, other in model.degrade.items():
            message = fallback_complaint(name, other, served, aliases)
            if message is not None:
                yield SettingProblem(path=f"{dotted(MODELS, name, 'degrade')}.{tier}", message=message)


def _unknown(path: str, names: Iterable[str]) -> Iterator[SettingProblem]:
    for tier in names:
        if tier not in TIERS:
            yield SettingProblem(path=f"{path}.{tier}", message=or_nearest(f'no tier "{tier}"', tier, TIERS))
