"""One set of weights on two devices and in two precisions: whether they write the same, and how near a tie it was."""

import queue
import statistics
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.jax_engine.steps import as_kind
from heterodyne.jax_engine.engine import JaxEngine, SaidToken, Saying
from heterodyne.jax_engine.programs import DecoderPrograms
from heterodyne.jax_engine.scheduler import SlotScheduler
from heterodyne.jax_engine.sequence import JaxSequence, SamplingWishes
from heterodyne.jax_engine.shapes import shape_named
from heterodyne.jax_engine.weights import random_weights

PROMPT_TOKENS, ANSWER_TOKENS = 32, 32
WAIT_S = 300.0
Answers = list[list[SaidToken]]


def same_tokens(shape_name: str, prompts: int) -> dict[str, Any]:
    """The CPU in 32 bits beside the device of this machine in 32 and in 16."""
    shape = shape_named(shape_name)
    weights = random_weights(shape, "bf16")
    draw = np.random.default_rng(20)
    texts = [draw.integers(0, shape.vocabulary, PROMPT_TOKENS).tolist() for _ in range(prompts)]
    cpu = jax.devices("cpu")[0]
    with jax.default_device(cpu):
        there = as_kind(jax.device_put(weights, cpu), jnp.float32)
        expected = answers(DecoderPrograms(shape, there), texts)
    del there
    here = {"fp32": answers(DecoderPrograms(shape, as_kind(weights, jnp.float32)), texts)}
    here["bf16"] = answers(DecoderPrograms(shape, weights), texts)
    margins = [_margin(said) for one in expected for said in one]
    told: dict[str, Any] = {
        "what": "same tokens", "shape": shape_name, "prompts": prompts, "tokens": ANSWER_TOKENS,
        "median_margin": round(statistics.median(margins), 4),
    }  # fmt: skip
    return told | {precision: _compared(expected, found) for precision, found in here.items()}


def answers(programs: DecoderPrograms, prompts: Sequence[Sequence[int]]) -> Answers:
    """Greedy ones, from the whole engine, with the two likeliest of each token."""
    told: queue.Queue[list[Saying] | BaseException] = queue.Queue()
    scheduler = SlotScheduler(slots=len(prompts), context_tokens=256, chunk_tokens=PROMPT_TOKENS)
    engine = JaxEngine(programs, scheduler, chunk_tokens=PROMPT_TOKENS, tell=told.put, fail=told.put)
    engine.start()
    wishes = SamplingWishes(top_logprobs=2)
    for number, prompt in enumerate(prompts):
        engine.submit(JaxSequence(number, prompt, limit_tokens=ANSWER_TOKENS, wishes=wishes))
    found: Answers = [[] for _ in prompts]
    while any(len(one) < ANSWER_TOKENS for one in found):
        news = told.get(timeout=WAIT_S)
        if isinstance(news, BaseException):
            raise news
        for saying in news:
            found[saying.sequence.key] += saying.tokens
    engine.close()
    return found


def _compared(expected: Answers, found: Answers) -> dict[str, Any]:
    places = [_first_difference(one, other) for one, other in zip(expected, found, strict=True)]
    ties = [_margin(one[place]) for one, place in zip(expected, places, strict=True) if place is not None]
    before = [
        abs(one.log_probability - other.log_probability)
        for left, right, place in zip(expected, found, places, strict=True)
        for one, other in zip(left[:place], right[:place], strict=True)
    ]
    return {
        "same": sum(place is None for place in places),
        "differs_at": [place for place in places if place is not None],
        "margins_there": sorted(round(one, 5) for one in ties),
        "largest_log_probability_difference": round(max(before, default=0.0), 6),
    }


def _first_difference(one: list[SaidToken], other: list[SaidToken]) -> int | None:
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=True)) if a.token != b.token), None)


def _margin(said: SaidToken) -> float:
    """By how much the likeliest is likelier than the second, as logarithms."""
    return said.top[0][1] - said.top[1][1]
