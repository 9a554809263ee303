"""Prices that pools take from the price list."""

import json
from pathlib import Path
from typing import Any

import pytest

from heterodyne.config.effective import effective
from heterodyne.config.load import load, resolve
from heterodyne.config.problems import SettingsProblems
from heterodyne.config.settings import Settings
from heterodyne.domain.price import Price
from heterodyne.fleet.settings import PoolSettings
from heterodyne.planning.hardware.replica_price import replica_price
from heterodyne.simulator.fleet_file import SimulatedPool
from heterodyne.supervisor.services.rehearsal.order import simulated_pool

ONE = {"input_cost_per_token": 1e-6, "output_cost_per_token": 2e-6, "cache_read_input_token_cost": 1e-7}
TWO = {"input_cost_per_token": 2e-6, "output_cost_per_token": 4e-6}


def written(tmp_path: Path, pools: str, prices: dict[str, Any] | None = None, *, has_list: bool = True) -> Path:
    listed = tmp_path / "prices.json"
    listed.write_text(json.dumps(prices or {"maker-1": ONE, "gemini/maker-1": TWO, "azure/maker-1": TWO}))
    file = tmp_path / "heterodyne.toml"
    said = f"[fleet]\nprice_list = {json.dumps(str(listed))}\n" if has_list else ""
    file.write_text(said + pools)
    return file


def pool(name: str, **fields: object) -> str:
    said = {"model": "maker-1", "urls": ["https://h"], **fields}
    return f"[pools.{name}]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in said.items())


def loaded(file: Path) -> Settings:
    return load(file, {}, {})


def problems(file: Path) -> list[str]:
    with pytest.raises(SettingsProblems) as raised:
        loaded(file)
    return [str(problem) for problem in raised.value.problems]


def prompt_usd(settings: Settings, name: str) -> float | None:
    return settings.pools[name].price_usd_per_million_prompt_tokens


def test_a_hosted_pool_without_a_price_has_that_of_its_model(tmp_path: Path) -> None:
    settings = loaded(
        written(
            tmp_path,
            pool("claude", engine="anthropic", model="big", engine_model="maker-1")
            + pool("gemini", engine="gemini")
            + pool("azure", engine="azure-openai", model="mine", price_list_model="azure/maker-1"),
        )
    )
    assert prompt_usd(settings, "claude") == 1.0
    assert settings.pools["claude"].price_usd_per_million_cached_tokens == pytest.approx(0.1)
    assert prompt_usd(settings, "gemini") == 2.0
    assert prompt_usd(settings, "azure") == 2.0


def test_a_price_of_its_own_goes_before_the_list(tmp_path: Path) -> None:
    own = pool("claude", engine="anthropic", price_usd_per_million_prompt_tokens=9.0)
    settings = loaded(written(tmp_path, own))
    assert prompt_usd(settings, "claude") == 9.0
    assert settings.pools["claude"].price_usd_per_million_completion_tokens is None


def test_who_speaks_openai_is_looked_up_only_by_name(tmp_path: Path) -> None:
    both = pool("quiet", engine="openai") + pool("named", engine="openai", price_list_model="maker-1")
    settings = loaded(written(tmp_path, both + pool("own", engine="vllm")))
    assert prompt_usd(settings, "quiet") is None
    assert prompt_usd(settings, "named") == 1.0
    assert prompt_usd(settings, "own") is None


def test_a_model_that_is_not_listed_is_a_problem_with_the_nearest(tmp_path: Path) -> None:
    (problem,) = problems(written(tmp_path, pool("claude", engine="anthropic", engine_model="makr-1")))
    assert problem == (
        'pools.claude.engine_model: fleet.price_list has no "makr-1"; did you mean "maker-1"? '
        "Name the one meant in price_list_model, or give prices here"
    )
    (problem,) = problems(written(tmp_path, pool("own", price_list_model="xyz")))
    assert problem.startswith('pools.own.price_list_model: fleet.price_list has no "xyz"; name the one meant')


def test_a_name_for_the_list_needs_the_list_and_no_other_price(tmp_path: Path) -> None:
    (problem,) = problems(written(tmp_path, pool("p", price_list_model="maker-1"), has_list=False))
    assert problem == "pools.p.price_list_model: names a model of fleet.price_list, which is absent"
    both = pool("p", price_list_model="maker-1", price_usd_per_hour=1.0)
    (problem,) = problems(written(tmp_path, both))
    assert problem.endswith("but price_usd_per_hour is the pool's own; keep one of them")


def test_what_is_wrong_in_the_list_is_a_problem_with_its_path(tmp_path: Path) -> None:
    claude = pool("claude", engine="anthropic")
    (problem,) = problems(written(tmp_path, claude, {"maker-1": {"input_cost_per_token": "free"}}))
    assert problem == ("fleet.price_list: maker-1.input_cost_per_token: expected dollars from 0 to 1, found 'free'")
    file = written(tmp_path, claude)
    (tmp_path / "prices.json").unlink()
    (problem,) = problems(file)
    assert problem.startswith("fleet.price_list: no file")


def test_a_list_that_no_pool_needs_is_not_read(tmp_path: Path) -> None:
    file = written(tmp_path, pool("own", engine="vllm"))
    (tmp_path / "prices.json").unlink()
    assert prompt_usd(loaded(file), "own") is None


def test_what_is_shown_says_that_it_came_from_the_list(tmp_path: Path) -> None:
    file = written(tmp_path, pool("claude", engine="anthropic"))
    rows = {row.path: row for row in effective(resolve(file, {}, {}))}
    row = rows["pools.claude.price_usd_per_million_prompt_tokens"]
    assert (row.value, row.origin) == (1.0, "price list")
    assert rows["pools.claude.price_long_prompt_tokens"].origin == "default"


def test_every_part_of_a_price_is_a_setting_and_can_be_rehearsed() -> None:
    names = [name for name in Price.__struct_fields__ if name != "usd_per_hour"]
    said = {f"price_{name}": place for place, name in enumerate(names, start=1)}
    settings = PoolSettings(model="m", hardware="h100-sxm", **said)  # type: ignore[arg-type]  # numbers, by name
    price = Price(**{name: said[f"price_{name}"] for name in names})
    assert replica_price(settings, None) == price
    rehearsed = simulated_pool(settings, 1)
    assert isinstance(rehearsed, SimulatedPool)
    assert replica_price(rehearsed, None) == price
