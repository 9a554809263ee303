"""What pools must say about LoRA adapters."""

import pytest

from heterodyne.config.checks import adapter_checks
from heterodyne.config.checks.catalogue import Check
from heterodyne.config.settings import Settings
from heterodyne.fleet.model_settings import ModelSettings
from heterodyne.fleet.settings import PoolSettings


def found(check: Check, settings: Settings) -> list[str]:
    return [str(problem) for problem in check(settings, {})]


def lora(model: str, *names: str) -> PoolSettings:
    return PoolSettings(model=model, engine="vllm", adapters={name: f"/srv/{name}" for name in names})


@pytest.mark.parametrize("engine", ["openai", "ollama", "mlx-lm", "llamacpp"])
def test_adapters_on_an_engine_that_takes_none_are_refused_with_those_that_do(engine: str) -> None:
    pool = PoolSettings(model="m", engine=engine, adapters={"law": "/srv/law"})
    (problem,) = found(adapter_checks.adapters_meet_an_engine_that_takes_them, Settings(pools={"p": pool}))
    assert problem.startswith(f'pools.p.adapters: "{engine}" takes no adapters by name; ')
    assert "vllm" in problem


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
def test_adapters_on_an_engine_that_takes_them_are_fine(engine: str) -> None:
    pool = PoolSettings(model="m", engine=engine, adapters={"law": "/srv/law"})
    assert found(adapter_checks.adapters_meet_an_engine_that_takes_them, Settings(pools={"p": pool})) == []


def test_adapters_of_a_replica_started_here_are_refused() -> None:
    pool = PoolSettings(model="m", engine="llamacpp", weights="file:/m", adapters={"law": "/srv/law"})
    (problem,) = found(adapter_checks.adapters_meet_an_engine_that_takes_them, Settings(pools={"p": pool}))
    assert problem.startswith("pools.p.adapters: a replica started here from weights has no adapters")


def test_an_adapter_named_like_a_model_an_alias_or_another_models_adapter_is_refused() -> None:
    settings = Settings(
        pools={"p": lora("m", "n", "law"), "q": lora("n", "fast", "law")},
        models={"m": ModelSettings(aliases=("fast",))},
    )
    assert found(adapter_checks.adapter_names_are_free, settings) == [
        "pools.p.adapters.n: the name is already the name of a model",
        "pools.q.adapters.fast: the name is already an alias of models.m",
        'pools.q.adapters.law: the name is already an adapter of another model, "m", in pools.p',
    ]


def test_two_pools_of_one_model_may_offer_the_same_adapter() -> None:
    settings = Settings(pools={"p": lora("m", "law"), "q": lora("m", "law")})
    assert found(adapter_checks.adapter_names_are_free, settings) == []
