"""Checks of cascades: a file that was fitted, by a name of its big model, with models that are served."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from heterodyne.config.fields import CASCADES, dotted
from heterodyne.config.problems import SettingProblem
from heterodyne.config.served_models import field_of_every_pool, purposes
from heterodyne.config.settings import Settings
from heterodyne.config.suggestions import or_nearest
from heterodyne.domain.errors import InvalidSpec
from heterodyne.domain.fleet import Purpose

if TYPE_CHECKING:
    from heterodyne.routing.cascade.fitted_cascade import FittedCascade


def cascades_were_fitted(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """The file is there, and is what `heterodyne cascade fit` writes."""
    for name, cascade in settings.cascades.items():
        try:
            _read(cascade.fitted)
        except InvalidSpec as error:
            yield SettingProblem(path=dotted(CASCADES, name, "fitted"), message=error.message)


def a_cascade_is_asked_for_by_a_name_of_its_big_model(
    settings: Settings, _: Mapping[str, str]
) -> Iterator[SettingProblem]:
    """What is not tried, or not kept, is answered by the model that the name means."""
    aliases = {alias: model for model, one in settings.models.items() for alias in one.aliases}
    for name, fitted in _fitted(settings):
        if aliases.get(name, name) != fitted.big:
            message = f'the name has to mean "{fitted.big}", the big model of its file; add it to that one\'s `aliases`'
            yield SettingProblem(path=dotted(CASCADES, name), message=message)


def a_cascade_has_its_models(settings: Settings, _: Mapping[str, str]) -> Iterator[SettingProblem]:
    """Pools serve the cheap model, and the verifier where one was fitted."""
    served = purposes(settings)
    for name, fitted in _fitted(settings):
        cascade, rests_on = settings.cascades[name], field_of_every_pool(settings, "model", "purpose")
        path = dotted(CASCADES, name)
        if served.get(fitted.cheap) != Purpose.GENERATE:
            message = or_nearest(f'no pool serves "{fitted.cheap}", the cheap model of its file', fitted.cheap, served)
            yield SettingProblem(path=path, message=message, rests_on=rests_on)
        verifier = cascade.verifier_model
        if "verifier" in fitted.card.judges and not verifier:
            message = "the file was fitted with a verifier; name the model that is asked"
            yield SettingProblem(path=dotted(CASCADES, name, "verifier_model"), message=message)
        for field, model in (("verifier_model", verifier), ("judge_model", cascade.judge_model)):
            if model and served.get(model) != Purpose.GENERATE:
                message = or_nearest(f'no pool serves "{model}"', model, served)
                yield SettingProblem(path=dotted(CASCADES, name, field), message=message, rests_on=rests_on)


def _fitted(settings: Settings) -> Iterator[tuple[str, "FittedCascade"]]:
    """Those whose files can be read."""
    for name, cascade in settings.cascades.items():
        try:
            yield name, _read(cascade.fitted)
        except InvalidSpec:
            continue  # told by its own check


def _read(path: str) -> "FittedCascade":
    """What a cascade needs takes longer to load than all other settings, and most settings have none."""
    from heterodyne.gateway.cascades.load import read_fitted  # noqa: PLC0415  # see above

    return read_fitted(path)
