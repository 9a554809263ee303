"""Decode steps and prompts: the arithmetic of the roofline, and what must never get faster."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heterodyne.domain.errors import InvalidSpec
from heterodyne.physics.hardware import Link
from heterodyne.physics.model_spec import LatentAttention, ModelSpec
from heterodyne.physics.parallelism import Parallelism
from heterodyne.physics.placement import compute_flops, place
from heterodyne.physics.precision import Precision
from heterodyne.physics.prices import DATASHEET
from heterodyne.physics.step_time import Speculation, decode_step_s, inter_token_s, prefill_s
from heterodyne.physics.terms import Terms, decode_terms
from tests.support.physics import CHIP, DENSE, IDEAL, MIXTURE, demands, placement

SPECS = st.sampled_from([DENSE, MIXTURE])
WIDTHS = st.fixed_dictionaries({name: st.sampled_from([1, 2, 4, 8]) for name in ("tp", "pp", "ep", "dp")})
BATCHES = st.floats(1, 4096)
CONTEXTS = st.floats(1, 100_000)


def test_one_sequence_on_one_chip_takes_its_bytes_and_operations() -> None:
    work = demands()
    bytes_read = work.dense_bytes + work.kv_bytes(1000)
    operations = work.dense_flops_per_token + work.head_flops_per_token
    step_s = decode_step_s(placement(), IDEAL, batch=1, context=1000)
    assert step_s == pytest.approx(bytes_read / 1e12 + operations / 50e12)


def test_tensor_parallelism_pays_a_ring_sum_twice_a_layer() -> None:
    two = placement(tp=2)
    assert two.hop_s == pytest.approx(2 * 10 * 1e-6)
    assert two.reduce_s_per_token == pytest.approx(2 * (1 / 2) * 1000 * 2 * 2 * 10 / 100e9)
    assert placement().hop_s == placement().reduce_s_per_token == 0


def test_kv_is_cut_no_finer_than_its_heads() -> None:
    assert placement(tp=2).kv_s_per_byte == placement(tp=8).kv_s_per_byte == pytest.approx(1 / 2e12)


def test_tokens_travel_to_experts_only_where_attention_is_copied() -> None:
    assert placement(MIXTURE, dp=8, ep=8).exchange_s_per_token > 0
    assert placement(MIXTURE, tp=8, ep=8).exchange_s_per_token == 0  # every chip has every token already
    assert placement(DENSE, dp=8, ep=8).exchange_s_per_token == 0


def test_experts_cut_by_tensor_gather_the_tokens_of_every_copy_of_attention() -> None:
    gathered = placement(MIXTURE, dp=8)
    assert gathered.exchange_s_per_token == pytest.approx(2 * 1000 * 2 * 10 * (7 / 8) / 100e9)
    assert gathered.hop_s == placement(MIXTURE, dp=8, ep=8).hop_s == pytest.approx(2 * 10 * 1e-6)


def test_the_fullest_chip_is_waited_for_where_experts_are_dealt_out_whole() -> None:
    even, dealt = placement(MIXTURE, tp=8), placement(MIXTURE, tp=8, ep=8)
    assert even.expert_imbalance == 0
    for share in (0.01, 0.5, 0.9):
        assert share < dealt.fullest_share(share) <= 1
    assert (dealt.fullest_share(0.0), dealt.fullest_share(1.0)) == (0, 1)
    for batch in (1, 16, 100):
        waits_s = decode_terms(dealt, batch, 10).experts
        assert waits_s == dealt.expert_read_s * dealt.fullest_share(dealt.work.touched_share(batch))
        assert waits_s > decode_terms(even, batch, 10).experts


def test_many_heads_over_one_latent_take_as_long_as_they_multiply() -> None:
    latent = LatentAttention(kv_rank=500, rope_dim=50, nope_dim=100, value_dim=100)
    few, many = (msgspec.structs.replace(DENSE, latent=latent, heads=heads, kv_heads=heads) for heads in (1, 1000))
    assert placement(few).kv_s_per_byte == pytest.approx(1e-12)
    assert placement(many).kv_s_per_byte == pytest.approx(1000 * 2 * 1050 / (550 * 2) / 50e12)


def test_products_of_experts_have_a_price_of_their_own() -> None:
    dear = msgspec.structs.replace(IDEAL, expert_compute=5.0)
    operations = demands(MIXTURE).expert_flops_per_token / 50e12
    for seconds in (
        lambda prices: decode_step_s(placement(MIXTURE), prices, batch=1, context=10),
        lambda prices: prefill_s(placement(MIXTURE), prices, tokens=1),
    ):
        assert seconds(dear) - seconds(IDEAL) == pytest.approx(4 * operations)


def test_chips_out_of_the_links_reach_talk_over_the_outer_link() -> None:
    slow = Link(name="slow", bytes_per_s=1e9, pair_bytes_per_s=1e9, latency_s=1e-3)
    inside = place(demands(), accelerator=CHIP, parallelism=Parallelism(tp=8), outer_link=slow)
    outside = place(demands(), accelerator=CHIP, parallelism=Parallelism(tp=16), outer_link=slow)
    stages = place(demands(), accelerator=CHIP, parallelism=Parallelism(tp=8, pp=2), outer_link=slow)
    assert inside == placement(tp=8)
    assert outside.hop_s == pytest.approx(2 * 10 * 1e-3)
    assert stages.hop_s == inside.hop_s
    assert stages.stage_hop_s == pytest.approx(1e-3)


def test_a_format_the_chip_lacks_multiplies_as_a_wider_one() -> None:
    assert compute_flops(CHIP, Precision.INT4) == 50e12
    unmeasured = msgspec.structs.replace(CHIP, achievable_flops={})
    assert compute_flops(unmeasured, Precision.BF16) == pytest.approx(75e12)
    with pytest.raises(InvalidSpec, match=r"accelerators\.round\.flops: no rate for fp8"):
        compute_flops(msgspec.structs.replace(CHIP, achievable_flops={}, flops={}), Precision.FP8)


def test_a_width_below_one_is_refused() -> None:
    with pytest.raises(InvalidSpec, match="tp: 0 is no width"):
        Parallelism(tp=0)


@given(SPECS, WIDTHS, BATCHES, BATCHES, CONTEXTS)
def test_more_sequences_never_make_a_step_faster(
    spec: ModelSpec, widths: dict[str, int], batch: float, other: float, context: float
) -> None:
    few, many = sorted((batch, other))
    placed = placement(spec, **widths)
    assert decode_step_s(placed, DATASHEET, batch=few, context=context) <= decode_step_s(
        placed, DATASHEET, batch=many, context=context
    ) * (1 + 1e-9)


@given(SPECS, WIDTHS, BATCHES, CONTEXTS, CONTEXTS)
def test_longer_context_never_makes_a_step_faster(
    spec: ModelSpec, widths: dict[str, int], batch: float, context: float, other: float
) -> None:
    short, long = sorted((context, other))
    placed = placement(spec, **widths)
    assert decode_step_s(placed, DATASHEET, batch=batch, context=short) <= decode_step_s(
        placed, DATASHEET, batch=batch, context=long
    ) * (1 + 1e-9)


@given(SPECS, WIDTHS, st.tuples(BATCHES, CONTEXTS), st.floats(1, 10), st.sampled_from(["memory", "compute", "link"]))
def test_a_better_chip_is_never_slower(
    spec: ModelSpec, widths: dict[str, int], load: tuple[float, float], factor: float, what: str
) -> None:
    batch, context = load
    link = CHIP.link
    better = {
        "memory": msgspec.structs.replace(CHIP, memory_bytes_per_s=CHIP.memory_bytes_per_s * factor),
        "compute": msgspec.structs.replace(CHIP, achievable_flops={Precision.BF16: 50e12 * factor}),
        "link": msgspec.structs.replace(
            CHIP,
            link=msgspec.structs.replace(
                link, bytes_per_s=link.bytes_per_s * factor, pair_bytes_per_s=link.pair_bytes_per_s * factor
            ),
        ),
    }[what]
    before, after = placement(spec, **widths), placement(spec, better, **widths)
    assert decode_step_s(after, DATASHEET, batch=batch, context=context) <= decode_step_s(
        before, DATASHEET, batch=batch, context=context
    ) * (1 + 1e-9)
    assert prefill_s(after, DATASHEET, tokens=context) <= prefill_s(before, DATASHEET, tokens=context) * (1 + 1e-9)


@given(SPECS, WIDTHS, st.floats(0, 100_000), st.floats(0, 100_000), st.integers(256, 16_384))
def test_cached_tokens_never_cost(
    spec: ModelSpec, widths: dict[str, int], tokens: float, other: float, chunk: int
) -> None:
    cached, whole = sorted((tokens, other))
    placed = placement(spec, **widths)
    warm = prefill_s(placed, DATASHEET, tokens=whole, cached=cached, chunk_tokens=chunk)
    assert 0 <= warm <= prefill_s(placed, DATASHEET, tokens=whole, chunk_tokens=chunk) * (1 + 1e-9)


def test_a_fully_cached_prompt_is_free() -> None:
    assert prefill_s(placement(), DATASHEET, tokens=1000, cached=1000) == 0


def test_smaller_chunks_pay_the_fixed_cost_more_often() -> None:
    once = prefill_s(placement(), DATASHEET, tokens=8192, chunk_tokens=8192)
    often = prefill_s(placement(), DATASHEET, tokens=8192, chunk_tokens=1024)
    assert often - once == pytest.approx(7 * 10 * DATASHEET.prompt_layer_s)


def test_pipeline_chunks_overlap_and_one_chunk_cannot() -> None:
    one = prefill_s(placement(), IDEAL, tokens=8192)
    alone = prefill_s(placement(pp=4), IDEAL, tokens=8192)
    chunked = prefill_s(placement(pp=4), IDEAL, tokens=8192, chunk_tokens=512)
    assert alone >= one
    assert chunked < 0.4 * one


def test_the_price_of_every_term_counts_once() -> None:
    names = Terms._fields
    for index in range(len(names)):
        terms = Terms(*(float(place == index) for place in range(len(names))))
        assert DATASHEET.seconds(terms) == DATASHEET.values()[index]


def test_speculation_pays_when_guesses_are_right_and_memory_binds() -> None:
    plain = inter_token_s(placement(), DATASHEET, batch=1, context=1000)
    good = Speculation(draft_tokens=4, acceptance=0.8)
    bad = Speculation(draft_tokens=4, acceptance=0.0)
    assert good.accepted_tokens() == pytest.approx((1 - 0.8**5) / 0.2)
    assert Speculation(draft_tokens=4, acceptance=1.0).accepted_tokens() == 5
    assert inter_token_s(placement(), DATASHEET, batch=1, context=1000, speculation=good) < plain / 2
    assert inter_token_s(placement(), DATASHEET, batch=1, context=1000, speculation=bad) > plain
