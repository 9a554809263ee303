"""The load at which the promised share is just kept: the formula beside the step machine."""

from random import Random

import pytest

from heterodyne.domain.errors import InvalidSpec
from heterodyne.physics.catalogue import accelerator
from heterodyne.physics.model_shapes import model_spec
from heterodyne.physics.precision import Precision
from heterodyne.physics.serving import Slo
from heterodyne.planning.hardware.candidate import HardwareCandidate, candidates, load_of, try_scheduling
from heterodyne.planning.hardware.rehearsal import rehearse
from heterodyne.planning.hardware.sustained import Limit, Shortfall, SustainedLoad, check_share
from heterodyne.planning.traffic.request_shape import RequestShape

INTERACTIVE, BATCH = Slo(ttft_s=0.5, itl_s=0.05), Slo(ttft_s=2.0, itl_s=0.2)
SHAPE = RequestShape(prompt_tokens=1024, output_tokens=256)


def candidate(model: str, chip: str, tp: int = 1) -> HardwareCandidate:
    laid_out = candidates(model_spec(model), [accelerator(chip)], precision=Precision.FP8, kv_precision=Precision.BF16)
    return next(one for one in laid_out if isinstance(one, HardwareCandidate) and one.tp == tp)


def kept(one: HardwareCandidate, shape: RequestShape, slo: Slo, load: SustainedLoad, *, times: float = 1.0) -> float:
    """By the step machine, at so many times the load."""
    scheduling = try_scheduling(one, shape)
    assert scheduling is not None
    return rehearse(
        one.clock,
        scheduling,
        shape,
        slo,
        requests_per_s=load.requests_per_s * times,
        concurrency=load.concurrency * times,
        draw=Random(5).random,
        requests=300,
    ).kept_share


@pytest.mark.parametrize(
    ("model", "chip", "tp", "shape", "slo"),
    [
        ("llama-3.1-8b", "l4", 1, RequestShape(prompt_tokens=512, output_tokens=128), BATCH),
        ("llama-3.1-70b", "h100-sxm", 2, SHAPE, INTERACTIVE),
        ("llama-3.1-70b", "h100-sxm", 4, RequestShape(prompt_tokens=6000, output_tokens=300), BATCH),
        ("qwen3-30b-a3b", "h100-sxm", 1, SHAPE, INTERACTIVE),
        ("deepseek-v3", "h200-sxm", 8, RequestShape(prompt_tokens=2000, output_tokens=300), INTERACTIVE),
    ],
)
def test_the_step_machine_keeps_the_promise_at_the_load_that_the_formula_finds(model, chip, tp, shape, slo) -> None:
    one = candidate(model, chip, tp)
    load = load_of(one, shape, slo)
    assert isinstance(load, SustainedLoad)
    assert kept(one, shape, slo, load) >= 0.975
    assert kept(one, shape, slo, load, times=1.6) < 0.99  # so that it does not ask for far too much either
    assert 0.0 < load.utilisation <= 1.0
    assert load.ttft.p50_s <= load.ttft.p90_s <= load.ttft.p99_s <= slo.ttft_s
    assert load.itl.p50_s <= load.itl.p90_s <= load.itl.p99_s <= slo.itl_s


def test_a_larger_share_a_stricter_time_and_a_longer_request_leave_less() -> None:
    one = candidate("llama-3.1-70b", "h100-sxm", 2)
    usual = load_of(one, SHAPE, INTERACTIVE)
    strict = load_of(one, SHAPE, INTERACTIVE, share=0.999)
    hasty = load_of(one, SHAPE, Slo(ttft_s=0.3, itl_s=0.05))
    longer = load_of(one, RequestShape(prompt_tokens=2048, output_tokens=512), INTERACTIVE)
    assert isinstance(usual, SustainedLoad)
    for less in (strict, hasty, longer):
        assert isinstance(less, SustainedLoad)
        assert less.requests_per_s < usual.requests_per_s


def test_what_one_request_alone_misses_is_said_with_its_times() -> None:
    short = load_of(candidate("llama-3.1-70b", "h100-sxm", 2), SHAPE, Slo(ttft_s=0.5, itl_s=0.001))
    assert isinstance(short, Shortfall)
    assert short.limit is Limit.ITL
    assert short.itl_s is not None
    assert short.itl_s > 0.001


def test_what_does_not_fit_has_no_times() -> None:
    short = load_of(candidate("llama-3.1-70b", "h100-sxm", 1), SHAPE, BATCH)
    assert short == Shortfall(limit=Limit.PLACES)


@pytest.mark.parametrize("share", [0.0, 1.0, 99.0])
def test_a_share_that_cannot_be_promised_is_refused(share: float) -> None:
    with pytest.raises(InvalidSpec, match="share"):
        check_share(share)
