"""What one reading means beside the one before."""

import pytest

from heterodyne.control.readings import (
    FROZEN_AFTER_S,
    adapters_listed,
    adapters_of,
    find_model,
    follow,
    frozen_for_s,
    has_restarted,
)
from heterodyne.domain.engine_load import EngineLoad, ServedModel

BUSY = EngineLoad(prompt_tokens=1000.0, output_tokens=200.0, started_at_s=1e9)


def counters(prompt: float | None, output: float | None, started_at_s: float | None = None) -> EngineLoad:
    return EngineLoad(prompt_tokens=prompt, output_tokens=output, started_at_s=started_at_s)


@pytest.mark.parametrize(
    "now",
    [
        counters(2000, 300, 1e9 + 60),
        counters(2000, 300, 1e9 - 60),
        counters(1000, 5, 1e9),
        counters(0, 0),
        counters(None, 3),
        counters(4, 200),
        counters(4, None),
    ],
)
def test_another_start_or_counters_that_went_back_are_a_restart(now: EngineLoad) -> None:
    assert has_restarted(BUSY, now)


@pytest.mark.parametrize(
    "now",
    [
        BUSY,
        counters(1500, 300, 1e9 + 0.5),
        counters(None, None, 1e9),
        counters(None, None),
        counters(999, 300, 1e9),  # the difference of two counters read a moment apart
    ],
)
def test_counters_that_go_on_are_none(now: EngineLoad) -> None:
    assert not has_restarted(BUSY, now)


def test_an_engine_that_said_nothing_before_has_not_restarted() -> None:
    assert not has_restarted(EngineLoad(), BUSY)


def test_counters_that_stand_still_while_answers_come_are_frozen() -> None:
    still = follow(None, BUSY, 100.0, answers=5)
    assert follow(still, BUSY, 105.0, answers=9) is still
    assert frozen_for_s(still, 100.0 + FROZEN_AFTER_S, answers=9) == FROZEN_AFTER_S
    assert frozen_for_s(still, 109.0, answers=9) is None, "not for long"
    assert frozen_for_s(still, 200.0, answers=6) is None, "one answer may be on its way into the page"


def test_a_counter_that_moves_begins_anew() -> None:
    moved = follow(follow(None, BUSY, 100.0, answers=0), counters(1000, 201), 150.0, answers=40)
    assert frozen_for_s(moved, 155.0, answers=60) is None


def test_an_engine_without_counters_cannot_be_frozen() -> None:
    assert follow(None, EngineLoad(running=0, waiting=0), 100.0, answers=0) is None
    assert frozen_for_s(None, 1000.0, answers=1000) is None


def test_a_name_without_a_tag_is_the_latest() -> None:
    models = (ServedModel(name="llama3.2:latest", context_tokens=4096), ServedModel(name="qwen:7b"))
    assert find_model(models, "llama3.2") == models[0]
    assert find_model(models, "qwen") is None


def test_adapters_are_the_configured_ones_and_those_it_lists() -> None:
    models = (ServedModel(name="base"), ServedModel(name="b", parent="base"), ServedModel(name="c", parent="base"))
    assert adapters_listed(models) == ("b", "c")
    assert adapters_of(("b", "c"), {"a": "/a", "b": "/b"}) == {"a": "/a", "b": "/b", "c": None}
