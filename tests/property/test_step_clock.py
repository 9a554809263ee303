"""Coefficients worked out once give the times that the terms of a step do."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heterodyne.physics.catalogue import accelerators
from heterodyne.physics.model_shapes import model_specs
from heterodyne.physics.parallelism import Parallelism
from heterodyne.physics.placement import Placement, place
from heterodyne.physics.precision import Precision
from heterodyne.physics.profile import Profile
from heterodyne.physics.profile_catalogue import shipped_profiles
from heterodyne.physics.replica.step_clock import PromptChunk, StepClock
from heterodyne.physics.step_time import Speculation, decode_step_s, inter_token_s, prefill_s
from heterodyne.physics.terms import Terms, prefill_terms
from heterodyne.physics.work import work

EXACT = 1e-9
WHOLE = 1 << 40


def placed(name: str, width: Parallelism) -> Placement:
    """A model of the catalogue on H100s."""
    demands = work(model_specs()[name], precision=Precision.FP8, kv_precision=Precision.BF16)
    return place(demands, accelerator=accelerators()["h100-sxm"], parallelism=width)


widths = st.sampled_from([Parallelism(), Parallelism(tp=4), Parallelism(tp=2, pp=3), Parallelism(tp=2, dp=2, ep=4)])
placements = st.builds(placed, st.sampled_from(sorted(model_specs())), widths)
profiles = st.sampled_from(shipped_profiles())
guesses = st.none() | st.builds(Speculation, draft_tokens=st.integers(1, 8), acceptance=st.floats(0, 1))
batches = st.tuples(st.integers(1, 600), st.floats(0, 200_000))
pieces = st.tuples(st.integers(0, 20_000), st.integers(1, 20_000)).map(
    lambda pair: PromptChunk(pair[0], pair[0] + pair[1])
)
slowdowns = st.floats(0.1, 10)


@given(placements, profiles, guesses, batches, slowdowns)
def test_decode_times_are_those_of_the_terms(
    placement: Placement, profile: Profile, guess: Speculation | None, batch: tuple[int, float], slowdown: float
) -> None:
    clock = StepClock(placement, profile, speculation=guess, slowdown=slowdown)
    sequences, context = batch
    truth_s = inter_token_s(placement, profile.prices, batch=sequences, context=context, speculation=guess)
    assert clock.decode_s(sequences, context) == pytest.approx(slowdown * truth_s, rel=EXACT)


@given(placements, profiles, st.lists(pieces, min_size=1, max_size=5), slowdowns)
def test_chunk_times_are_those_of_the_terms(
    placement: Placement, profile: Profile, chunks: list[PromptChunk], slowdown: float
) -> None:
    terms = [prefill_terms(placement, one.end, cached=one.start, chunk_tokens=WHOLE) for one in chunks]
    # One pass through the layers carries them all.
    together = Terms(*map(sum, zip(*terms, strict=True)))._replace(
        hops=terms[0].hops, prompt_layers=terms[0].prompt_layers
    )
    clock = StepClock(placement, profile, slowdown=slowdown)
    assert clock.chunks_s(chunks) == pytest.approx(slowdown * profile.prices.seconds(together), rel=EXACT)


@given(placements, profiles, pieces)
def test_what_passes_ahead_of_the_scheduler_is_that_of_the_terms(
    placement: Placement, profile: Profile, piece: PromptChunk
) -> None:
    first = profile.first_token
    own_s = prefill_s(placement, profile.prices, tokens=piece.end, cached=piece.start)
    alone_s = decode_step_s(placement, profile.prices, batch=1, context=0)
    truth_s = first.fixed_s + (first.prompt - 1.0) * own_s + first.steps_ahead * alone_s
    assert StepClock(placement, profile).ahead_s(piece.end, piece.start) == pytest.approx(truth_s, rel=EXACT)
