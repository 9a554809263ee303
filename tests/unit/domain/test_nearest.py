"""A name nobody knows gets a hint, however long it is and however many are known."""

import time

from heterodyne.domain.nearest import SHOWN_CHARS_MAX, shown, try_nearest, unknown_name


def test_the_nearest_name_is_found() -> None:
    assert try_nearest("lama-3", ["qwen-3", "llama-3"]) == "llama-3"
    assert try_nearest("zzz", ["qwen-3", "llama-3"]) is None


def test_of_very_many_names_those_that_begin_alike_are_compared() -> None:
    known = [*(f"model-{number}" for number in range(10_000)), "llama-3.1-8b"]
    assert try_nearest("llama-3.1-8", known) == "llama-3.1-8b"


def test_a_long_name_is_neither_compared_nor_repeated() -> None:
    name = "a" * 1_000_000
    began_s = time.thread_time()
    error = unknown_name("policy", name, ["slo", "cost"])
    assert try_nearest(name, ["aaaa"]) is None
    assert time.thread_time() - began_s < 5, "comparing it takes minutes"
    assert len(error.message) < 2 * SHOWN_CHARS_MAX
    assert shown(name) == "a" * SHOWN_CHARS_MAX + "…"
