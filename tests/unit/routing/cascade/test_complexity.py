"""The complexity router learns which prompts a cheap model can do."""

import msgspec
import numpy as np
import pytest

from heterodyne.routing.cascade.complexity import (
    ComplexityRouter,
    FeaturesMismatch,
    fit_complexity,
    fit_linear,
    margins_apart,
    prompt_table,
)
from heterodyne.routing.cascade.curve import quality_curve
from heterodyne.routing.cascade.fitting import qualities
from heterodyne.routing.cascade.regression import margins
from tests.unit.routing.cascade.observed import EASY, HARD, traffic

ROWS = traffic(300)
TABLE = prompt_table([row.prompt for row in ROWS])
SMALL, LARGE = qualities(ROWS, "small"), qualities(ROWS, "large")
WEIGHTS = fit_complexity(TABLE, SMALL, LARGE)


def test_new_prompts_of_a_hard_kind_have_more_risk() -> None:
    router = ComplexityRouter(WEIGHTS)
    easy = max(router.risk(f"Question 9001: what about the {one}?") for one in EASY)
    hard = min(router.risk(f"Question 9001: what about the {one}?") for one in HARD)
    assert easy + 0.1 < hard
    assert router.score(EASY[0]) == pytest.approx(1 - router.risk(EASY[0]))


def test_the_same_rows_give_the_same_bytes() -> None:
    assert msgspec.json.encode(fit_complexity(TABLE, SMALL, LARGE)) == msgspec.json.encode(WEIGHTS)


def test_one_prompt_in_plain_python_is_what_numpy_says() -> None:
    router = ComplexityRouter(WEIGHTS)
    linear = fit_linear(TABLE, SMALL, LARGE)
    expected = margins(linear, TABLE.dense[:20], TABLE.filled[:20])
    assert [router.margin(row.prompt) for row in ROWS[:20]] == pytest.approx(expected.tolist(), abs=5e-3)


def test_margins_apart_rank_prompts_that_their_router_has_not_seen() -> None:
    apart = margins_apart(TABLE, SMALL, LARGE)
    curve = quality_curve(-apart, SMALL, LARGE)
    assert curve.gap_recovered > 0.65
    assert curve.big_share_at(0.95) < curve.big_share_by_chance(0.95) - 0.15


def test_weights_for_other_features_are_refused() -> None:
    with pytest.raises(FeaturesMismatch, match="fit again"):
        ComplexityRouter(msgspec.structs.replace(WEIGHTS, features_version="0"))
    with pytest.raises(FeaturesMismatch, match="another size"):
        ComplexityRouter(msgspec.structs.replace(WEIGHTS, table=b"\0\0"))


def test_rows_without_any_difference_teach_nothing() -> None:
    router = ComplexityRouter(fit_complexity(prompt_table(["a", "b", "c"]), np.ones(3), np.ones(3)))
    assert router.risk("whatever") == pytest.approx(0.5)
