"""A replica under load: memory, interference, goodput."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heterodyne.physics.prices import DATASHEET
from heterodyne.physics.profile import PRIOR
from heterodyne.physics.serving import Binding, Load, ReplicaSpec, Slo, goodput, serve, serving_terms
from heterodyne.physics.step_time import Speculation, decode_step_s, prefill_s
from tests.support.physics import placement

REPLICA = ReplicaSpec(placement=placement(tp=2), profile=PRIOR)
APART = msgspec.structs.replace(REPLICA, is_prefill_apart=True)
LOAD = Load(concurrency=8, prompt_tokens=2000, output_tokens=200)


def test_one_request_meets_no_prompt_but_its_own() -> None:
    alone = serve(REPLICA, msgspec.structs.replace(LOAD, concurrency=1))
    assert alone.itl_s == decode_step_s(REPLICA.placement, DATASHEET, batch=1, context=2100)
    assert alone.ttft_s > prefill_s(REPLICA.placement, DATASHEET, tokens=2000)


def test_other_prompts_stretch_tokens_and_prefill_elsewhere_does_not() -> None:
    prompt_s = prefill_s(REPLICA.placement, DATASHEET, tokens=2000)
    assert serve(REPLICA, LOAD).itl_s - serve(APART, LOAD).itl_s == pytest.approx(7 / 199 * prompt_s)


def test_the_terms_that_are_fitted_are_those_that_are_served() -> None:
    terms = serving_terms(REPLICA.placement, LOAD, running=8)
    assert DATASHEET.seconds(terms) == pytest.approx(serve(REPLICA, LOAD).itl_s)


def test_sequences_beyond_memory_wait_and_throughput_stays() -> None:
    small = msgspec.structs.replace(REPLICA, kv_capacity_tokens=4 * 2100)
    full = serve(small, msgspec.structs.replace(LOAD, concurrency=4))
    over = serve(small, msgspec.structs.replace(LOAD, concurrency=8))
    assert over.running == 4
    assert over.itl_s == full.itl_s
    assert over.requests_per_s == full.requests_per_s
    assert over.ttft_s == pytest.approx(full.ttft_s + full.ttft_s + 200 * full.itl_s)


@given(st.floats(1, 2000), st.floats(1, 2000), st.one_of(st.none(), st.floats(1, 1e6)))
def test_more_concurrency_never_shortens_a_wait(few: float, many: float, capacity: float | None) -> None:
    few, many = sorted((few, many))
    replica = msgspec.structs.replace(REPLICA, kv_capacity_tokens=capacity)
    before = serve(replica, msgspec.structs.replace(LOAD, concurrency=few))
    after = serve(replica, msgspec.structs.replace(LOAD, concurrency=many))
    assert before.itl_s <= after.itl_s * (1 + 1e-9)
    assert before.ttft_s <= after.ttft_s * (1 + 1e-9)


def test_a_burst_waits_for_the_prompts_that_came_with_it() -> None:
    burst = msgspec.structs.replace(LOAD, is_burst=True)
    prompt_s = prefill_s(REPLICA.placement, DATASHEET, tokens=2000)
    many, few = (serve(REPLICA, msgspec.structs.replace(burst, concurrency=number)) for number in (8, 4))
    assert many.ttft_s - few.ttft_s == pytest.approx(
        PRIOR.first_token.queue * 4 * prompt_s + (many.itl_s - few.itl_s) / 2
    )


def test_a_steady_load_waits_as_at_a_counter() -> None:
    alone = serve(REPLICA, msgspec.structs.replace(LOAD, concurrency=1))
    first = PRIOR.first_token
    prompt_s = prefill_s(REPLICA.placement, DATASHEET, tokens=2000)
    assert alone.ttft_s == pytest.approx(first.fixed_s + first.prompt * prompt_s)
    assert serve(REPLICA, LOAD).ttft_s > alone.ttft_s + serve(APART, LOAD).itl_s


def test_little_s_law_holds() -> None:
    served = serve(REPLICA, LOAD)
    inside = served.requests_per_s * (served.ttft_s + 200 * served.itl_s)
    assert inside == pytest.approx(8)
    assert served.output_tokens_per_s == pytest.approx(served.requests_per_s * 200)


def test_speculation_shortens_tokens_of_a_small_batch() -> None:
    guessing = msgspec.structs.replace(APART, speculation=Speculation(draft_tokens=3, acceptance=0.8))
    load = msgspec.structs.replace(LOAD, concurrency=1)
    assert serve(guessing, load).itl_s < serve(APART, load).itl_s


@given(st.floats(1e-4, 1), st.floats(1e-3, 10))
def test_goodput_is_the_largest_concurrency_within_the_slo(itl_s: float, ttft_s: float) -> None:
    slo = Slo(ttft_s=ttft_s, itl_s=itl_s)
    best = goodput(REPLICA, slo, prompt_tokens=2000, output_tokens=200)
    above = serve(REPLICA, msgspec.structs.replace(LOAD, concurrency=best.concurrency + 1))
    if best.served is not None:
        assert best.served.itl_s <= itl_s
        assert best.served.ttft_s <= ttft_s
    if best.binding is Binding.ITL:
        assert above.itl_s > itl_s
    elif best.binding is Binding.TTFT:
        assert above.ttft_s > ttft_s


def test_an_impossible_slo_serves_nobody_and_says_why() -> None:
    none = goodput(REPLICA, Slo(ttft_s=10, itl_s=1e-9), prompt_tokens=2000, output_tokens=200)
    assert (none.concurrency, none.served, none.binding) == (0, None, Binding.ITL)
