"""What a replica does within a budget, in each role."""

import pytest
from msgspec import structs

from heterodyne.domain.replica_role import ReplicaRole
from heterodyne.physics.catalogue import accelerator
from heterodyne.physics.model_shapes import model_spec
from heterodyne.physics.precision import Precision
from heterodyne.physics.serving import Slo
from heterodyne.planning.hardware.candidate import HardwareCandidate, candidates
from heterodyne.planning.mix.role_rate import KV_LINK, requests_per_s
from heterodyne.planning.traffic.request_shape import RequestShape

SLO = Slo(ttft_s=0.5, itl_s=0.05)
SHAPE = RequestShape(prompt_tokens=1024, output_tokens=256)
SLOW_LINK = structs.replace(KV_LINK, bytes_per_s=1e9, pair_bytes_per_s=1e9)


def h100s(tp: int) -> HardwareCandidate:
    laid_out = candidates(
        model_spec("llama-3.1-70b"),
        [accelerator("h100-sxm")],
        precision=Precision.FP8,
        kv_precision=Precision.BF16,
    )
    return next(one for one in laid_out if isinstance(one, HardwareCandidate) and one.tp == tp)


def test_a_role_alone_does_more_of_its_part_than_both_together() -> None:
    both, prefill, decode = (requests_per_s(h100s(2), SHAPE, SLO, role=role) for role in ReplicaRole)
    assert prefill > both > 0
    assert decode > both


@pytest.mark.parametrize("role", list(ReplicaRole))
def test_more_patience_never_lowers_a_rate(role: ReplicaRole) -> None:
    tight = requests_per_s(h100s(2), SHAPE, SLO, role=role)
    loose = requests_per_s(h100s(2), SHAPE, Slo(ttft_s=2.0, itl_s=0.2), role=role)
    assert loose >= tight


def test_a_slow_link_between_replicas_takes_from_the_budget_of_the_first_token() -> None:
    assert requests_per_s(h100s(2), SHAPE, SLO, role=ReplicaRole.PREFILL, kv_link=SLOW_LINK) < requests_per_s(
        h100s(2), SHAPE, SLO, role=ReplicaRole.PREFILL
    )


@pytest.mark.parametrize("role", list(ReplicaRole))
def test_a_target_out_of_reach_leaves_nothing(role: ReplicaRole) -> None:
    assert requests_per_s(h100s(2), SHAPE, Slo(ttft_s=1e-3, itl_s=1e-6), role=role) == 0.0


def test_a_request_that_does_not_fit_is_not_served() -> None:
    long = RequestShape(prompt_tokens=100_000, output_tokens=1000)
    assert requests_per_s(h100s(1), long, Slo(ttft_s=1e6, itl_s=1e6), role=ReplicaRole.BOTH) == 0.0
