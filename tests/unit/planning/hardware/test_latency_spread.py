"""Quantiles rehearsed on the step machine."""

from random import Random

from heterodyne.physics.catalogue import accelerator, accelerators
from heterodyne.physics.model_shapes import model_spec
from heterodyne.physics.precision import Precision
from heterodyne.physics.serving import Slo
from heterodyne.planning.hardware.candidate import HardwareCandidate, candidates
from heterodyne.planning.hardware.latency_spread import LatencySpread, latency_spread
from heterodyne.planning.hardware.ranking import HardwareRequirements, rank_hardware, with_spread
from heterodyne.planning.traffic.request_shape import RequestShape


def spread(requests_per_s: float, *, seed: int = 1) -> LatencySpread:
    laid_out = candidates(
        model_spec("llama-3.1-8b"), [accelerator("h100")], precision=Precision.FP8, kv_precision=Precision.BF16
    )
    candidate = next(one for one in laid_out if isinstance(one, HardwareCandidate))
    shape = RequestShape(prompt_tokens=512, output_tokens=64)
    draw = Random(seed).random
    return latency_spread(candidate, shape, requests_per_s=requests_per_s, concurrency=8, draw=draw)


def test_the_same_draws_give_the_same_spread() -> None:
    assert spread(5.0) == spread(5.0)
    assert spread(5.0) != spread(5.0, seed=2)


def test_more_requests_a_second_widen_it() -> None:
    calm, busy = spread(2.0), spread(20.0)
    assert calm.ttft_p50_s < busy.ttft_p50_s
    assert calm.itl_p99_s < busy.itl_p99_s
    assert calm.ttft_p50_s < calm.ttft_p99_s


def test_a_choice_keeps_its_place_and_gains_its_spread() -> None:
    requirements = HardwareRequirements(
        model=model_spec("llama-3.1-8b"), precision=Precision.FP8, slo=Slo(ttft_s=0.5, itl_s=0.05)
    )
    choice = rank_hardware(requirements, accelerators()).choices[0]
    rehearsed = with_spread(choice, requirements, accelerators(), draw=Random(1).random)
    assert choice.spread is None
    assert rehearsed.spread is not None
    assert (rehearsed.accelerator, rehearsed.tp, rehearsed.served) == (choice.accelerator, choice.tp, choice.served)
