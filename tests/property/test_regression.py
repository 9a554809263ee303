"""The regression finds the costs of engines that are nothing like their prior, and is not thrown by what is odd."""

from random import Random
from statistics import median

from hypothesis import given, settings
from hypothesis import strategies as st

from heterodyne.routing.prediction.regression import Four, Regression
from tests.support.examples import examples

STEP_S, SEQUENCE_S, TOKEN_S = 8e-3, 4e-5, 4e-8
PRIOR: Four = (STEP_S, SEQUENCE_S, TOKEN_S, 1.0)
STRANGE = st.floats(0.3, 10.0)
ENGINES = st.tuples(STRANGE, STRANGE, STRANGE, STRANGE)
SEEDS = st.integers(0, 10_000)
OUTLIERS = 0.01
STALLED = 20.0


def regression(doubt: float = 0.6) -> Regression:
    return Regression(
        PRIOR,
        floors=(0.1 * STEP_S, 0.005 * STEP_S, 2e-6 * STEP_S, 0.1),
        least=(0.02 * STEP_S, 0.0, 0.0, 0.02),
        most=(50 * STEP_S, STEP_S, 1e-3 * STEP_S, 50.0),
        doubt=doubt,
        noise=0.1,
        pull=0.002,
        regime_doubt=1.0,
    )


def amounts(random: Random, most: int = 64) -> Four:
    sequences = 1 + random.random() * random.choice((most / 8, most))
    context = sequences * (300 + random.expovariate(1 / 700))
    return 1.0, sequences, context, 0.2 * STEP_S * random.random()


def costs(engine: Four) -> Four:
    return engine[0] * STEP_S, engine[1] * SEQUENCE_S, engine[2] * TOKEN_S, engine[3]


def total_s(true: Four, seen: Four) -> float:
    return sum(cost * amount for cost, amount in zip(true, seen, strict=True))


def live(one: Regression, true: Four, samples: int, random: Random, *, scatter: float = 0.05) -> list[float]:
    """Relative errors of what it expected, each before it was told."""
    errors = []
    for _ in range(samples):
        seen = amounts(random)
        actual_s = total_s(true, seen)
        errors.append(abs(one.expect(*seen) / actual_s - 1.0))
        stalled = STALLED if random.random() < OUTLIERS else 1.0
        one.learn(*seen, actual_s * stalled * random.lognormvariate(0.0, scatter))
    return errors


@settings(max_examples=examples(200), deadline=None)
@given(ENGINES, SEEDS, st.sampled_from([0.6, 0.8, 2.0]))
def test_costs_of_0_3_to_10_times_the_prior_are_found_in_100_requests(engine: Four, seed: int, doubt: float) -> None:
    one, random = regression(doubt), Random(seed)
    live(one, costs(engine), 100, random)
    assert median(live(one, costs(engine), 50, random)) <= 0.10


@settings(max_examples=examples(100), deadline=None)
@given(ENGINES, SEEDS)
def test_times_that_scatter_much_are_foretold_within_15_percent_after_100(engine: Four, seed: int) -> None:
    one, random = regression(), Random(seed)
    live(one, costs(engine), 100, random, scatter=0.2)
    assert median(live(one, costs(engine), 50, random, scatter=0.2)) <= 0.15


@settings(max_examples=examples(100), deadline=None)
@given(ENGINES, st.tuples(*[st.sampled_from([0.4, 1.0, 2.5])] * 4), SEEDS)
def test_another_regime_is_learned_in_50_requests(engine: Four, change: Four, seed: int) -> None:
    one, random = regression(), Random(seed)
    live(one, costs(engine), 500, random)
    after: Four = tuple(a * b for a, b in zip(engine, change, strict=True))  # type: ignore[assignment]
    live(one, costs(after), 50, random)
    assert median(live(one, costs(after), 50, random)) <= 0.10


@settings(max_examples=examples(50), deadline=None)
@given(ENGINES, st.sampled_from([0.997, 1.003]), SEEDS)
def test_costs_that_drift_are_followed(engine: Four, pace: float, seed: int) -> None:
    one, random = regression(), Random(seed)
    live(one, costs(engine), 300, random)
    errors: list[float] = []
    for number in range(300):
        errors += live(one, costs(tuple(part * pace**number for part in engine)), 1, random)  # type: ignore[arg-type]
    assert median(errors) <= 0.10


@settings(max_examples=examples(50), deadline=None)
@given(st.lists(st.tuples(*[st.floats(0.0, 1e6)] * 4, st.floats(0.0, 1e6)), max_size=200))
def test_costs_stay_within_bounds_whatever_it_is_told(samples: list[tuple[float, ...]]) -> None:
    one = regression()
    for first, second, third, fourth, actual_s in samples:
        one.learn(first, second, third, fourth, actual_s)
        assert 0.02 * STEP_S <= one.first <= 50 * STEP_S
        assert 0.0 <= one.second <= STEP_S
        assert 0.0 <= one.third <= 1e-3 * STEP_S
        assert 0.02 <= one.fourth <= 50.0
