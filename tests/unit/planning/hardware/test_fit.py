"""What does not fit is answered with the smallest change that does."""

import pytest

from heterodyne.physics.catalogue import accelerator, accelerators
from heterodyne.physics.memory import Demand, Layout
from heterodyne.physics.model_shapes import model_spec
from heterodyne.physics.precision import Precision
from heterodyne.planning.hardware.caveats import caveats
from heterodyne.planning.hardware.fit import Fit, fit


def answer(model: str, chip: str, *, context: int = 8192, concurrency: int = 1, **fields) -> Fit:
    spec = model_spec(model)
    fields.setdefault("precision", spec.checkpoint_precision)
    layout = Layout(model=spec, accelerator=accelerator(chip), **fields)
    return fit(layout, Demand(context_tokens=context, concurrency=concurrency), accelerators())


def changes(result: Fit) -> dict[str, str]:
    return {change.kind.value: change.sentence for change in result.changes}


def test_what_fits_needs_no_change() -> None:
    result = answer("llama-3.1-8b", "h100-sxm")
    assert result.is_fitting
    assert result.changes == ()


def test_a_cache_just_too_large_asks_for_fewer_slots_then_for_fp8() -> None:
    result = answer("qwen3-32b", "h100-sxm", context=40_000)
    assert result.changes[0].sentence == "make the engine ready for 64 slots instead of 1024"
    assert result.changes[1].sentence == "keep keys and values in fp8"
    assert changes(result)["context"].startswith("limit the context to 2")


def test_weights_too_large_offer_precision_tp_and_another_chip() -> None:
    assert changes(answer("llama-3.1-70b", "h100-sxm")) == {
        "precision": "keep the weights in int4",
        "tp": "split it over 2 chips (tp 2)",
        "hardware": "take b200",
    }


def test_the_highest_precision_that_fits_is_offered() -> None:
    assert changes(answer("qwen3-32b", "l40s"))["precision"] == "keep the weights in fp8"
    assert changes(answer("llama-3.1-70b", "b200", concurrency=30))["precision"] == "keep the weights in fp8"


def test_cards_over_pcie_are_offered_before_another_chip() -> None:
    offered = changes(answer("qwen3-32b", "l4"))
    assert list(offered).index("tp") < list(offered).index("hardware")
    assert offered["tp"] == "split it over 4 chips (tp 4)"


def test_a_chip_without_partners_is_not_split() -> None:
    assert "tp" not in changes(answer("llama-3.1-70b", "gh200"))


def test_a_very_large_model_needs_fewer_bits_and_more_chips() -> None:
    result = answer("llama-3.1-405b", "h100-sxm")
    assert result.changes[0].sentence == "keep the weights in fp8 and split them over 8 chips (tp 8)"


def test_too_many_sequences_are_answered_with_how_many_would() -> None:
    result = answer("llama-3.1-8b", "l4", concurrency=64)
    assert result.changes[0].sentence == "serve 4 sequences at once instead of 64"


def test_another_chip_runs_the_same_engine_and_precision() -> None:
    for change in answer("deepseek-v3", "h100-sxm", tp=8, concurrency=4).changes:
        assert change.layout.engine in change.layout.accelerator.engines
        assert change.layout.precision in change.layout.accelerator.precisions


def test_another_chip_has_noticeably_more_memory() -> None:
    for change in answer("qwen3-32b", "h100-sxm", context=40_000).changes:
        assert change.layout.accelerator.name != "a100-80gb"


def test_nothing_is_invented_when_nothing_helps() -> None:
    assert answer("deepseek-v3", "l4").changes == ()


@pytest.mark.parametrize(
    ("model", "chip", "fields", "words"),
    [
        ("llama-3.1-8b", "a100", {"precision": Precision.FP8}, "a100-80gb is not known to run weights in fp8"),
        ("llama-3.1-8b", "tpu-v5e", {"engine": "sglang"}, "sglang is not known to run on tpu-v5e"),
        ("llama-3.1-8b", "l4", {"tp": 4}, "the fast link of l4 joins 1 chips"),
        ("deepseek-v3", "h200", {"tp": 8}, "latent attention: every chip holds all keys and values"),
        ("qwen3-30b-a3b", "h100", {"tp": 8}, "has 4 KV heads; beyond tp 4 chips hold copies"),
        ("phi-4", "h100", {"context": 32_768}, "is made for 16384 tokens; 32768 go beyond"),
    ],
)
def test_unusual_layouts_are_remarked_on(model, chip, fields, words) -> None:
    result = answer(model, chip, **fields)
    (said,) = caveats(result.layout, result.demand)
    assert words in said


def test_an_ordinary_layout_has_no_caveat() -> None:
    result = answer("llama-3.1-70b", "h100", tp=4, precision=Precision.FP8)
    assert caveats(result.layout, result.demand) == ()
