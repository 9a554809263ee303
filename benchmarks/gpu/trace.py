"""What is asked: prompts and answers of mixed lengths, the same at every replay."""

import math
from random import Random

import msgspec
from msgspec import Struct

PROMPT_MEDIAN, PROMPT_SPREAD, PROMPT_TOKENS = 400, 0.6, (32, 2000)
ANSWER_MEDIAN, ANSWER_SPREAD, ANSWER_TOKENS = 48, 0.5, (8, 160)

ANSWER_MEAN = ANSWER_MEDIAN * math.exp(ANSWER_SPREAD**2 / 2)


class Ask(Struct, frozen=True, kw_only=True):
    """One request."""

    number: int
    at_s: float  # from the beginning; 0 where the next one follows the last
    prompt_tokens: int
    output_tokens: int


def asks(count: int, *, seed: int, per_s: float | None = None) -> tuple[Ask, ...]:
    """So many; with `per_s` they arrive at random, that many a second."""
    draw, at_s, made = Random(seed), 0.0, []
    for number in range(count):
        if per_s is not None:
            at_s += draw.expovariate(per_s)
        prompt = _length(draw, PROMPT_MEDIAN, PROMPT_SPREAD, PROMPT_TOKENS)
        answer = _length(draw, ANSWER_MEDIAN, ANSWER_SPREAD, ANSWER_TOKENS)
        made.append(Ask(number=number, at_s=at_s, prompt_tokens=prompt, output_tokens=answer))
    return tuple(made)


def body(ask: Ask, model: str, words: int, seed: int) -> bytes:
    """The request as JSON: words of the random tokenizer, begun like no other prompt."""
    draw = Random(f"{seed} {ask.number}")
    prompt = " ".join(f"w{draw.randrange(words)}" for _ in range(ask.prompt_tokens))
    fields = {
        "model": model,
        "prompt": prompt,
        "max_tokens": ask.output_tokens,
        "temperature": 0.0,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    return msgspec.json.encode(fields)


def _length(draw: Random, median: int, spread: float, bounds: tuple[int, int]) -> int:
    least, most = bounds
    return round(min(most, max(least, median * draw.lognormvariate(0.0, spread))))
