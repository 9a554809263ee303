"""Memory budgets against what vLLM reported on H100 (llm-d planner, empirical vLLM memory results)."""

import msgspec
import pytest

from heterodyne.domain.errors import InvalidSpec
from heterodyne.physics.catalogue import accelerator
from heterodyne.physics.engine_kind import EngineKind
from heterodyne.physics.memory import Demand, Layout, memory_budget
from heterodyne.physics.model_shapes import model_spec
from heterodyne.physics.precision import Precision
from heterodyne.physics.weights import weight_bytes

GIB = 2**30
ONE_LONG = Demand(context_tokens=16_000)


def layout(model: str, precision: Precision = Precision.BF16, chip: str = "h100-sxm", **fields) -> Layout:
    return Layout(model=model_spec(model), accelerator=accelerator(chip), precision=precision, **fields)


@pytest.mark.parametrize(
    ("model", "precision", "tp", "fraction", "weights", "activations", "overhead", "room"),
    [
        ("gpt-oss-20b", "fp4", 1, 0.90, 13.47, 7.38, 0.13, 50.28),
        # The log's parts add up to its room at 0.95 only, so that is what it was started with.
        ("gpt-oss-120b", "fp4", 1, 0.95, 64.38, 7.38, 0.13, 3.33),
        ("llama-3.3-70b", "fp8", 2, 0.90, 33.88, 4.84, 0.55, 32.00),
        ("llama-3.3-70b", "fp8", 1, 0.90, 67.72, 4.84, 0.14, -1.44),
        ("llama-3.1-8b", "bf16", 1, 0.90, 14.99, 4.76, 0.13, 51.38),
        ("qwen3-0.6b", "bf16", 1, 0.90, 1.12, 5.56, 0.13, 64.45),
        ("qwen3-32b", "bf16", 1, 0.90, 61.03, 5.64, 0.14, 4.45),
    ],
)
def test_the_budget_is_what_vllm_measured(
    *, model, precision, tp, fraction, weights, activations, overhead, room
) -> None:
    budget = memory_budget(layout(model, Precision(precision), tp=tp, memory_fraction=fraction), ONE_LONG)
    assert budget.weights_bytes / GIB == pytest.approx(weights, abs=0.5)
    assert budget.activation_bytes / GIB == pytest.approx(activations, abs=0.1)
    assert budget.overhead_bytes / GIB == pytest.approx(overhead, abs=0.05)
    assert budget.kv_room_bytes / GIB == pytest.approx(room, abs=0.5)


def test_what_started_and_what_failed_there_fits_and_fails_here() -> None:
    qwen = layout("qwen3-32b", memory_fraction=0.9)
    assert memory_budget(qwen, Demand(context_tokens=16_000)).is_fitting
    assert not memory_budget(qwen, Demand(context_tokens=32_000)).is_fitting
    llama = layout("llama-3.3-70b", Precision.FP8, memory_fraction=0.9)
    assert not memory_budget(llama, ONE_LONG).is_fitting
    assert memory_budget(msgspec.structs.replace(llama, tp=2), ONE_LONG).is_fitting
    assert not memory_budget(layout("deepseek-r1", Precision.FP8), ONE_LONG).is_fitting


@pytest.mark.parametrize("engine", EngineKind)
def test_the_parts_are_the_whole(engine: EngineKind) -> None:
    budget = memory_budget(layout("llama-3.1-8b", engine=engine), ONE_LONG)
    parts = budget.weights_bytes + budget.activation_bytes + budget.overhead_bytes + budget.kv_bytes
    assert parts + budget.free_bytes + budget.unclaimed_bytes == pytest.approx(budget.memory_bytes)
    assert budget.unclaimed_bytes >= 0


def test_concurrency_and_context_trade_against_each_other() -> None:
    placed = layout("llama-3.1-8b")
    budget = memory_budget(placed, Demand(context_tokens=8192, concurrency=40))
    assert memory_budget(placed, Demand(context_tokens=8192, concurrency=budget.concurrency_max)).is_fitting
    assert not memory_budget(placed, Demand(context_tokens=8192, concurrency=budget.concurrency_max + 1)).is_fitting
    longest = budget.context_max_tokens
    assert memory_budget(placed, Demand(context_tokens=longest, concurrency=40)).is_fitting
    assert not memory_budget(placed, Demand(context_tokens=longest + 1, concurrency=40)).is_fitting


def test_a_model_too_large_holds_nothing() -> None:
    budget = memory_budget(layout("llama-3.1-405b"), ONE_LONG)
    assert (budget.concurrency_max, budget.context_max_tokens) == (0, 0)
    assert budget.kv_room_bytes < 0


def test_quantising_leaves_embeddings_alone() -> None:
    spec = model_spec("llama-3.3-70b")
    assert weight_bytes(spec, Precision.FP8) > spec.published_parameters
    assert weight_bytes(spec, Precision.FP8) == pytest.approx(67.72 * GIB, rel=0.002)
    assert weight_bytes(spec, Precision.BF16) == 2 * spec.published_parameters


def test_the_size_of_a_file_that_was_seen_is_believed() -> None:
    seen = msgspec.structs.replace(model_spec("smollm2-135m"), checkpoint_bytes=9e7)
    assert weight_bytes(seen, Precision.BF16) == 9e7
    assert weight_bytes(seen, Precision.INT8) < 2e8


@pytest.mark.parametrize(
    ("fields", "demand", "reason"),
    [
        ({"tp": 0}, ONE_LONG, "tp: 0 is not a whole number above zero"),
        ({"tp": 3}, ONE_LONG, "tp: 3 chips cannot share the 32 heads of llama-3.1-8b evenly; try 2"),
        ({"slots": -4}, ONE_LONG, "slots: -4 is not"),
        ({"memory_fraction": 1.2}, ONE_LONG, "memory fraction: 1.2 is not above 0 and at most 1"),
        ({"memory_fraction": float("nan")}, ONE_LONG, "memory fraction: nan"),
        ({}, Demand(context_tokens=0), "context: 0 is not"),
        ({}, Demand(context_tokens=1, concurrency=-1), "concurrency: -1 is not"),
    ],
)
def test_numbers_that_cannot_be_are_refused(fields, demand, reason) -> None:
    with pytest.raises(InvalidSpec, match=reason):
        memory_budget(layout("llama-3.1-8b", **fields), demand)
