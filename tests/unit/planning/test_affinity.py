"""Which hardware suits a model follows from memory, stacks and links, the way the source documents' table has it."""

import pytest
from msgspec import structs

from heterodyne.physics.catalogue import accelerator, accelerators
from heterodyne.physics.engine_kind import EngineKind
from heterodyne.physics.memory import Demand
from heterodyne.physics.model_shapes import model_spec
from heterodyne.physics.model_spec import ModelSpec
from heterodyne.physics.precision import Precision
from heterodyne.planning.affinity import Affinity, Build, Obstacle, affinity
from heterodyne.planning.launch.platform import Platform

FLEET = ("tpu-v5e", "tpu-v5p", "h100-sxm", "h200-sxm", "mi300x")  # of the source documents, beside the future ones
ROOMY = Demand(context_tokens=32_768, concurrency=32)  # a million tokens of KV
BF16 = Build(precision=Precision.BF16)
# Nobody outside knows the shapes of closed models: a large one that is built for one stack only stands for them.
CLOSED = ModelSpec(
    name="closed",
    layers=100,
    hidden=16_384,
    heads=128,
    kv_heads=8,
    head_dim=128,
    intermediate=65_536,
    vocabulary=256_000,
    context_tokens=131_072,
)


def suits(model: ModelSpec, *builds: Build, chips: tuple[str, ...] = FLEET, demand: Demand = ROOMY) -> Affinity:
    return affinity(model, builds, [accelerator(name) for name in chips], demand=demand)


def obstacles(found: Affinity) -> dict[str, Obstacle]:
    return {one.accelerator: one.obstacle for one in found.unsuited}


def test_llama_405b_suits_mi300x_because_eight_hold_it_in_bf16_beside_a_large_kv_cache() -> None:
    found = suits(model_spec("llama-3.1-405b"), BF16)
    [best] = found.suited
    assert (best.accelerator, best.tp) == ("mi300x", 8)
    assert best.kv_tokens > 1_000_000
    assert obstacles(found)["h100-sxm"] is Obstacle.MEMORY
    assert obstacles(found)["h200-sxm"] is Obstacle.MEMORY  # it holds the weights, and not so much beside them


def test_llama_405b_in_bf16_does_not_fit_on_eight_h100_even_with_next_to_no_kv() -> None:
    tiny = Demand(context_tokens=1024)
    found = suits(model_spec("llama-3.1-405b"), BF16, demand=tiny)
    assert [one.accelerator for one in found.suited] == ["mi300x", "h200-sxm"]
    assert obstacles(found)["h100-sxm"] is Obstacle.MEMORY


def test_mi300x_is_counted_with_its_192_gib_and_not_with_the_documents_256_gb() -> None:
    assert accelerator("mi300x").memory_bytes == pytest.approx(192 * 2**30, rel=0.001)


def test_gemini_suits_tpu_v5p_because_it_exists_for_tpus_only_and_is_too_large_for_v5e() -> None:
    jax = Build(precision=Precision.BF16, platform=Platform.TPU)
    shape = structs.replace(CLOSED, layers=64, hidden=12_288, heads=96, intermediate=32_768)
    found = suits(shape, jax, demand=Demand(context_tokens=32_768, concurrency=8))
    assert [one.accelerator for one in found.suited] == ["tpu-v5p"]
    assert obstacles(found) == {
        "tpu-v5e": Obstacle.MEMORY,
        "h100-sxm": Obstacle.STACK,
        "h200-sxm": Obstacle.STACK,
        "mi300x": Obstacle.STACK,
    }


def test_gpt_4_suits_h200_because_tensorrt_llm_runs_on_nvidia_and_h200_has_the_memory() -> None:
    found = suits(CLOSED, Build(precision=Precision.FP8, engine=EngineKind.TENSORRT_LLM))
    [best] = found.suited
    assert (best.accelerator, best.engine) == ("h200-sxm", EngineKind.TENSORRT_LLM)
    assert obstacles(found) == {
        "tpu-v5e": Obstacle.STACK,
        "tpu-v5p": Obstacle.STACK,
        "mi300x": Obstacle.STACK,
        "h100-sxm": Obstacle.MEMORY,
    }


def test_mixtral_8x22b_suits_eight_h100_because_its_experts_exchange_over_nvlink() -> None:
    found = suits(model_spec("mixtral-8x22b"), BF16)
    best = found.suited[0]
    assert (best.accelerator, best.tp, best.is_link_fast) == ("h100-sxm", 8, True)
    assert "NVLink" in best.reason
    others = {one.accelerator: one for one in found.suited[1:]}
    assert others["h200-sxm"].usd_per_hour > best.usd_per_hour  # as good, and dearer
    assert others["mi300x"].usd_per_hour < best.usd_per_hour  # cheaper, but
    assert not others["mi300x"].is_link_fast


def test_a_dense_model_asks_nothing_of_a_link() -> None:
    found = suits(model_spec("llama-3.1-70b"), BF16)
    assert found.suited[0].accelerator == "mi300x"
    assert all(one.is_link_fast for one in found.suited)


def test_a_mixture_that_fits_on_one_chip_stays_on_it() -> None:
    found = suits(model_spec("gpt-oss-20b"), BF16)
    assert {one.accelerator: one.tp for one in found.suited}["mi300x"] == 1


def test_any_build_that_runs_somewhere_makes_it_suitable() -> None:
    builds = (Build(precision=Precision.FP4), Build(precision=Precision.FP8, engine=EngineKind.TENSORRT_LLM), BF16)
    small = Demand(context_tokens=8192)
    found = suits(model_spec("llama-3.1-8b"), *builds, demand=small)
    precisions = {one.accelerator: one.precision for one in found.suited}
    assert precisions["h100-sxm"] is Precision.FP4
    assert precisions["mi300x"] is Precision.BF16
    assert obstacles(suits(model_spec("llama-3.1-8b"), builds[0], demand=small))["mi300x"] is Obstacle.PRECISION


def test_every_accelerator_of_the_catalogue_is_judged_once_and_with_a_reason() -> None:
    for name in ("llama-3.1-8b", "llama-3.1-405b", "mixtral-8x7b", "deepseek-v3"):
        spec = model_spec(name)
        builds = [Build(precision=spec.checkpoint_precision)]
        found = affinity(spec, builds, accelerators().values(), demand=Demand(context_tokens=8192))
        judged = [*found.suited, *found.unsuited]
        assert sorted(one.accelerator for one in judged) == sorted(accelerators())
        assert all(one.reason for one in judged)
        prices = [one.usd_per_hour for one in found.suited if one.is_link_fast and one.usd_per_hour is not None]
        assert prices == sorted(prices)
