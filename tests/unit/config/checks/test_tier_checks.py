"""What is said by tier is said of tiers that there are, and of models that can answer."""

import pytest

from heterodyne.admission.settings import AdmissionSettings
from heterodyne.config.checks.tier_checks import degraded_models_can_answer, tiers_are_known
from heterodyne.config.settings import Settings
from heterodyne.fleet.model_settings import ModelSettings
from heterodyne.fleet.settings import PoolSettings

POOLS = {name: PoolSettings(model=name, urls=("http://127.0.0.1:1",)) for name in ("large", "small")}


def settings(**degrade: str) -> Settings:
    return Settings(pools=POOLS, models={"large": ModelSettings(degrade=degrade)})


def test_a_model_that_is_served_may_answer_for_a_tier() -> None:
    good = settings(bronze="small")
    assert not [*tiers_are_known(good, {}), *degraded_models_can_answer(good, {})]


def test_an_unknown_tier_is_told_the_nearest() -> None:
    (problem,) = tiers_are_known(settings(bronce="small"), {})
    assert problem.path == "models.large.degrade.bronce"
    assert 'did you mean "bronze"?' in problem.message
    contexts = Settings(admission=AdmissionSettings(context_tokens_by_tier={"golden": 10}))
    (problem,) = tiers_are_known(contexts, {})
    assert problem.path == "admission.context_tokens_by_tier.golden"


@pytest.mark.parametrize(("other", "words"), [("smal", 'did you mean "small"?'), ("large", "its own place")])
def test_a_model_that_cannot_answer_is_named(other: str, words: str) -> None:
    (problem,) = degraded_models_can_answer(settings(bronze=other), {})
    assert problem.path == "models.large.degrade.bronze"
    assert words in problem.message
