"""Loads rehearsed on the step machine."""

from random import Random

from msgspec import structs

from heterodyne.physics.catalogue import accelerator, accelerators
from heterodyne.physics.model_shapes import model_spec
from heterodyne.physics.precision import Precision
from heterodyne.physics.serving import Slo
from heterodyne.planning.hardware.candidate import HardwareCandidate, candidates, try_scheduling
from heterodyne.planning.hardware.ranking import HardwareRequirements, rank_hardware, rehearsed
from heterodyne.planning.hardware.rehearsal import RehearsedLoad, rehearse
from heterodyne.planning.traffic.request_shape import RequestShape

SLO = Slo(ttft_s=0.2, itl_s=0.02)
SHAPE = RequestShape(prompt_tokens=512, output_tokens=64)


def seen(requests_per_s: float, *, seed: int = 1) -> RehearsedLoad:
    laid_out = candidates(
        model_spec("llama-3.1-8b"), [accelerator("h100")], precision=Precision.FP8, kv_precision=Precision.BF16
    )
    candidate = next(one for one in laid_out if isinstance(one, HardwareCandidate))
    scheduling = try_scheduling(candidate, SHAPE)
    assert scheduling is not None
    draw = Random(seed).random
    return rehearse(
        candidate.clock,
        scheduling,
        SHAPE,
        SLO,
        requests_per_s=requests_per_s,
        concurrency=8,
        draw=draw,
        requests=200,
    )


def test_the_same_draws_give_the_same_times() -> None:
    assert seen(5.0) == seen(5.0)
    assert seen(5.0) != seen(5.0, seed=2)


def test_more_requests_a_second_are_later_and_keep_the_promise_less() -> None:
    calm, busy = seen(2.0), seen(60.0)
    assert calm.ttft.p50_s < busy.ttft.p50_s
    assert calm.itl.p99_s < busy.itl.p99_s
    assert calm.ttft.p50_s <= calm.ttft.p90_s <= calm.ttft.p99_s
    assert calm.kept_share == 1.0
    assert seen(200.0).kept_share < 0.5


def test_a_rehearsed_choice_keeps_its_promise_or_carries_less() -> None:
    requirements = HardwareRequirements(
        model=model_spec("llama-3.1-8b"), precision=Precision.FP8, slo=Slo(ttft_s=0.5, itl_s=0.03)
    )
    choice = rank_hardware(requirements, {"l4": accelerator("l4")}).choices[0]
    greedy = structs.replace(choice, load=structs.replace(choice.load, requests_per_s=choice.load.requests_per_s * 1.4))
    after = rehearsed(greedy, requirements, accelerators(), draw=Random(1).random)
    assert not choice.is_rehearsed
    assert after.is_rehearsed
    assert (after.accelerator, after.tp) == (choice.accelerator, choice.tp)
    assert after.load.kept_share >= requirements.share
    assert after.load.requests_per_s < greedy.load.requests_per_s
