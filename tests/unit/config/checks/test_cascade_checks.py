"""A cascade has a file that was fitted, a name that means its big model, and models that are served."""

from pathlib import Path

from heterodyne.config.checks.cascade_checks import (
    a_cascade_has_its_models,
    a_cascade_is_asked_for_by_a_name_of_its_big_model,
    cascades_were_fitted,
)
from heterodyne.config.settings import Settings
from heterodyne.fleet.model_settings import ModelSettings
from heterodyne.fleet.settings import PoolSettings
from heterodyne.routing.cascade.settings import CascadeSettings
from tests.support.cascades import ALIAS, BIG, CHEAP, fitted_file

URLS = ("http://127.0.0.1:1",)
CHECKS = (cascades_were_fitted, a_cascade_is_asked_for_by_a_name_of_its_big_model, a_cascade_has_its_models)


def problems(
    file: Path, *, served: tuple[str, ...] = (BIG, CHEAP), name: str = ALIAS, verifier: str = ""
) -> list[tuple]:
    settings = Settings(
        pools={model: PoolSettings(model=model, urls=URLS) for model in served},
        models={BIG: ModelSettings(aliases=(ALIAS,))},
        cascades={name: CascadeSettings(fitted=str(file), verifier_model=verifier)},
    )
    return [(found.path, found.message) for check in CHECKS for found in check(settings, {})]


def test_what_was_fitted_and_is_served_will_do(tmp_path: Path) -> None:
    file = fitted_file(tmp_path, "structure")
    assert not problems(file)
    assert not problems(file, name=BIG)


def test_a_file_that_is_not_there_or_is_none_is_named(tmp_path: Path) -> None:
    ((path, message),) = problems(tmp_path / "none.json")
    assert path == f"cascades.{ALIAS}.fitted"
    assert "No such file" in message
    (tmp_path / "bad.json").write_text("{}")
    ((path, message),) = problems(tmp_path / "bad.json")
    assert "not a fitted cascade" in message


def test_another_name_is_told_what_it_has_to_mean(tmp_path: Path) -> None:
    ((path, message),) = problems(fitted_file(tmp_path, "structure"), name="other")
    assert path == "cascades.other"
    assert f'has to mean "{BIG}"' in message


def test_models_that_nobody_serves_are_named(tmp_path: Path) -> None:
    ((path, message),) = problems(fitted_file(tmp_path, "structure"), served=(BIG,))
    assert (path, CHEAP in message) == (f"cascades.{ALIAS}", True)
    judged = fitted_file(tmp_path, "verifier")
    ((path, message),) = problems(judged)
    assert path == f"cascades.{ALIAS}.verifier_model"
    ((path, message),) = problems(judged, verifier="smal")
    assert 'did you mean "small"?' in message
