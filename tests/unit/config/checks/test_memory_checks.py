"""A model that cannot fit on its hardware is refused, with the arithmetic and a way around it."""

import pytest
from msgspec import structs

from heterodyne.config.checks import memory_checks
from heterodyne.config.settings import Settings
from heterodyne.fleet.settings import PoolSettings
from heterodyne.physics.settings import PhysicsSettings

BIG = PoolSettings(model="llama-3.3-70b", engine="vllm", urls=("http://h:1",), hardware="l4")


def found(pool: PoolSettings, **described: dict[str, object]) -> list[str]:
    settings = Settings(pools={"big": pool}, physics=PhysicsSettings(hardware=described))
    return [str(problem) for problem in memory_checks.a_model_fits_its_hardware(settings, {})]


def test_a_model_that_does_not_fit_its_hardware_is_refused_with_the_arithmetic() -> None:
    (problem,) = found(BIG)
    assert problem.startswith("pools.big.hardware: llama-3.3-70b in bf16 does not fit: weights 131.4 GiB")
    assert "and l4 has 22.2 GiB" in problem
    assert "the smallest change that fits" in problem
    assert "checks_memory = false" in problem


@pytest.mark.parametrize(
    "change",
    [
        {"precision": "int4", "tp": 2},
        {"hardware": "mi300x"},
        {"checks_memory": False},
        {"shape": "llama-3.1-8b"},
        {"model": "a-model-of-unknown-size"},
        {"hardware": None},
        {"hardware": "h1000"},
    ],
)
def test_what_fits_or_is_unknown_or_is_the_operators_word_passes(change: dict[str, object]) -> None:
    assert found(structs.replace(BIG, **change)) == []


def test_layers_that_stay_on_the_host_need_no_room() -> None:
    here = structs.replace(BIG, urls=(), weights="file:model.gguf", engine="llamacpp")
    assert found(here) != []
    assert found(structs.replace(here, gpu_layers=8)) == []


def test_a_context_that_leaves_no_room_for_one_sequence_is_refused() -> None:
    small = structs.replace(BIG, model="llama-3.1-8b")
    assert found(small) == []
    (problem,) = found(structs.replace(small, context_tokens=131072))
    assert "limit the context to" in problem


def test_chips_that_cannot_share_the_heads_are_refused() -> None:
    (problem,) = found(structs.replace(BIG, hardware="h200-sxm", tp=3))
    assert problem.startswith("pools.big.tp: 3 chips cannot share the 64 heads")


def test_memory_that_the_settings_describe_counts() -> None:
    assert found(BIG, l4={"memory_bytes": 200 * 2**30}) == []
