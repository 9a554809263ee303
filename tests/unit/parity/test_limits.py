"""How far a build may be, by its precision."""

from itertools import pairwise

import pytest
from msgspec import structs

from heterodyne.domain.parity import ParityMeasures
from heterodyne.parity.limits import LIMITS, breaches_of, limits_of
from heterodyne.registry.gguf.precision import PRECISIONS

SOUND = ParityMeasures(
    positions=700,
    top1_agreement=0.98,
    unexplained_share=0.0,
    kl_nats=0.001,
    kl_worst_nats=0.02,
    perplexity=10.0,
    reference_perplexity=10.01,
)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"kl_nats": 0.4}, "KL 0.4000 nats, at most 0.006"),
        ({"top1_agreement": 0.5}, "top-1 agreement 50.0%, at least 88%"),
        ({"perplexity": 12.0}, "perplexity 1.199 times the reference's, at most 1.03 either way"),
        ({"perplexity": 9.0}, "perplexity 0.899 times the reference's, at most 1.03 either way"),
        ({"unexplained_share": 0.05}, "5.0% of positions part without a near-tie, at most 2.0%"),
    ],
)
def test_each_bound_is_told_with_what_was_measured(changes: dict[str, float], said: str) -> None:
    assert breaches_of(SOUND, limits_of("q8_0")) == ()
    assert breaches_of(structs.replace(SOUND, **changes), limits_of("q8_0")) == (said,)


def test_every_precision_that_is_built_has_limits() -> None:
    assert set(PRECISIONS) <= LIMITS.keys()


def test_fewer_bits_may_be_further_off() -> None:
    order = ["fp16", "q8_0", "q6_k", "q5_0", "q4_0", "q3_k_s"]
    bounds = [LIMITS[precision] for precision in order]
    for tighter, wider in pairwise(bounds):
        assert tighter.kl_nats < wider.kl_nats
        assert tighter.top1_agreement > wider.top1_agreement
        assert tighter.tie_nats < wider.tie_nats


def test_a_precision_that_nobody_knows_is_held_to_eight_bits() -> None:
    assert limits_of("posit8") == limits_of("q8_0")


def test_an_engine_that_cuts_activations_too_may_be_further_off_than_the_reference_with_the_same_weights() -> None:
    assert limits_of("int8", "reference") == limits_of("q8_0")
    assert limits_of("int8", "vllm").kl_nats > limits_of("int8").kl_nats
    assert limits_of("fp16", "vllm") == limits_of("fp16")
