"""The prior against the step clock it was drawn through, over the whole catalogue."""

from collections.abc import Iterator
from functools import cache

import pytest

from heterodyne.domain.errors import OperatorError
from heterodyne.physics.catalogue import accelerators
from heterodyne.physics.engine_kind import EngineKind
from heterodyne.physics.memory import Layout
from heterodyne.physics.model_shapes import model_specs
from heterodyne.physics.profile_catalogue import profile_for
from heterodyne.physics.replica.from_layout import placement_of, scheduling_of
from heterodyne.physics.replica.step_clock import PromptChunk, StepClock
from heterodyne.routing.prediction.prior import UNKNOWN, Prior, prior_of

DENSE = [name for name, spec in model_specs().items() if spec.experts is None and spec.window_tokens is None]
MIXTURES = [name for name, spec in model_specs().items() if spec.experts is not None]
WINDOWED = [name for name, spec in model_specs().items() if spec.window_tokens is not None and spec.experts is None]


@cache
def drawn(model: str) -> list[tuple[StepClock, Prior]]:
    """Every accelerator and width that the model fits on."""
    return list(_drawn(model))


def _drawn(model: str) -> Iterator[tuple[StepClock, Prior]]:
    spec = model_specs()[model]
    for chip in accelerators().values():
        engine = next((kind for kind in EngineKind if kind in chip.engines), None)
        if engine is None or spec.checkpoint_precision not in chip.precisions:
            continue
        for tp in (1, 8):
            if tp > chip.fast_domain_chips or spec.heads % tp:
                continue
            layout = Layout(model=spec, accelerator=chip, precision=spec.checkpoint_precision, tp=tp, engine=engine)
            try:
                scheduling = scheduling_of(layout, context_tokens=4096)
            except OperatorError:
                continue
            found = profile_for(spec, chip, engine=engine, precision=layout.precision, tp=tp)
            clock = StepClock(placement_of(layout), found.profile)
            yield clock, prior_of(clock, scheduling)


def step_s(prior: Prior, sequences: int, context_tokens: int) -> float:
    return prior.step_s + sequences * (prior.sequence_s + context_tokens * prior.context_token_s)


@pytest.mark.parametrize("model", DENSE)
def test_a_dense_models_steps_and_prompts_are_the_clocks(model: str) -> None:
    assert drawn(model)
    for clock, prior in drawn(model):
        for sequences in (1, 8, 64, 256):
            for context in (128, 1024, 16_384):
                assert step_s(prior, sequences, context) == pytest.approx(clock.decode_s(sequences, context))
        for tokens in (16, 512, 4096, 8192):
            for cached in (0, tokens // 2):
                expected = clock.chunks_s([PromptChunk(cached, tokens)])
                assert prior.prompt_work_s(tokens, cached) == pytest.approx(expected)
            ahead_s = prior.fixed_s + prior.ahead_share * prior.prompt_work_s(tokens)
            assert ahead_s == pytest.approx(clock.ahead_s(tokens, 0), rel=0.06)


@pytest.mark.parametrize("model", MIXTURES)
def test_a_mixtures_steps_bend_less_than_a_quarter_at_usual_loads(model: str) -> None:
    # Each sequence wakes fewer new experts than the one before it: below 8 sequences and above 64 the line goes astray.
    for clock, prior in drawn(model):
        for sequences in (8, 16, 32, 64):
            expected = clock.decode_s(sequences, 1024)
            assert step_s(prior, sequences, 1024) == pytest.approx(expected, rel=0.25)
        for tokens in (64, 512, 8192):
            expected = clock.chunks_s([PromptChunk(0, tokens)])
            assert prior.prompt_work_s(tokens) == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize("model", WINDOWED)
def test_a_windowed_models_steps_are_right_from_a_thousand_tokens_of_context_on(model: str) -> None:
    for clock, prior in drawn(model):
        for sequences in (1, 8, 64):
            for context in (1024, 4096):
                expected = clock.decode_s(sequences, context)
                assert step_s(prior, sequences, context) == pytest.approx(expected, rel=0.2)
        for tokens in (512, 2048, 8192):
            expected = clock.chunks_s([PromptChunk(0, tokens)])
            assert prior.prompt_work_s(tokens) == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("model", [*DENSE, *MIXTURES, *WINDOWED])
def test_more_of_anything_never_takes_less(model: str) -> None:
    for _, prior in drawn(model):
        assert min(prior.fixed_s, prior.prompt_s, prior.prompt_token_s, prior.prompt_token_squared_s) >= 0
        assert min(prior.sequence_s, prior.context_token_s, prior.ahead_share) >= 0
        assert prior.step_s > 0
        assert prior.kv_tokens > 0


def test_a_cached_beginning_saves_its_own_computation_and_no_more() -> None:
    whole, half = UNKNOWN.prompt_work_s(1000), UNKNOWN.prompt_work_s(1000, 500)
    assert whole - half == pytest.approx(500 * UNKNOWN.prompt_token_s)
    assert UNKNOWN.prompt_work_s(1000, 1000) == UNKNOWN.prompt_s
