"""Public per-model answers as rows of `heterodyne cascade`, each with a group that a stranger would split by.

Half or a quarter of the prompts of each set, by a hash of the prompt, were not looked at until the figures of the page
were made; `is_held_back` says which.
"""

import csv
import gzip
import hashlib
import io
import json
import lzma
from bisect import bisect_right
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from heterodyne.routing.cascade.observed_row import ObservedAnswer, ObservedRow

MIXTRAL, GPT4 = "mistralai/Mixtral-8x7B-Instruct-v0.1", "gpt-4-1106-preview"
GEMMA, NEMOTRON = "gemma-2-9b-it", "llama-3.1-nemotron-51b-instruct"
USD_PER_TOKEN = {MIXTRAL: 0.24e-6, GPT4: 24.7e-6}  # what RouteLLM's paper reckons with
CHARACTERS_PER_TOKEN = 4
SHORT_ANSWER_TOKENS = 2  # a letter
NINE_ANSWER_TOKENS = 200  # the set has scores and no answers

# The file of nine models is fifteen sets one after the other and names none of them; where each begins was read off it.
SOURCES = (
    (0, "logic grid"),
    (150, "GSM8K"),
    (350, "concepts to sentence"),
    (500, "Natural Questions"),
    (1000, "TriviaQA"),
    (1500, "reading"),
    (2000, "GPQA"),
    (2448, "MBPP"),
    (2946, "HumanEval"),
    (3110, "GSM8K"),
    (3610, "CommonsenseQA"),
    (4110, "MATH"),
    (4614, "OpenBookQA"),
    (5110, "ARC"),
)


class PublicSet(Struct, frozen=True, kw_only=True):
    """Rows, the group of each, and the two models that are compared."""

    name: str
    cheap: str
    big: str
    rows: tuple[ObservedRow, ...]
    groups: tuple[str, ...]
    held_back_parts: int  # one of so many

    def is_held_back(self, row: ObservedRow) -> bool:
        return hashlib.sha256(row.prompt.encode()).digest()[0] % self.held_back_parts == self.held_back_parts - 1

    def parts(self) -> tuple[list[ObservedRow], list[ObservedRow]]:
        """For development, and held back."""
        return (
            [row for row in self.rows if not self.is_held_back(row)],
            [row for row in self.rows if self.is_held_back(row)],
        )


def mmlu(folder: Path) -> PublicSet:
    """RouteLLM's MMLU: 14,042 questions of 57 subjects, right or wrong."""
    table = read_table(lzma.open, folder / "router" / "routellm_mmlu_responses.csv.xz")
    rows = tuple(
        ObservedRow(
            prompt=line["prompt"],
            models={
                model: _answer(line["prompt"], model, line[model], SHORT_ANSWER_TOKENS) for model in (MIXTRAL, GPT4)
            },
        )
        for line in table
    )
    groups = tuple(line["subject"] for line in table)
    return PublicSet(name="MMLU", cheap=MIXTRAL, big=GPT4, rows=rows, groups=groups, held_back_parts=4)


def nine_models(folder: Path, cheap: str = GEMMA, big: str = NEMOTRON) -> PublicSet:
    """LLMRouter's nine models on 5,608 prompts of fourteen sources, with its list prices."""
    with lzma.open(folder / "router" / "llmrouter_9model_scores_train.jsonl.xz", "rt") as file:
        lines = [json.loads(line) for line in file]
    prices = json.loads((folder / "router" / "llmrouter_candidate_prices.json").read_text())
    starts = [start for start, _ in SOURCES]
    return PublicSet(
        name="nine models",
        cheap=cheap,
        big=big,
        rows=tuple(
            ObservedRow(
                prompt=line["question"],
                models={
                    model: ObservedAnswer(
                        quality=line["scores"][model],
                        usd=prices[model]["output_price"] * 1e-6 * (tokens(line["question"]) + NINE_ANSWER_TOKENS),
                    )
                    for model in (cheap, big)
                },
            )
            for line in lines
        ),
        groups=tuple(SOURCES[bisect_right(starts, place) - 1][1] for place in range(len(lines))),
        held_back_parts=4,
    )


def read_table(opened: Callable[..., io.TextIOBase], path: Path) -> Sequence[dict[str, str]]:
    """The lines of a packed CSV."""
    with opened(path, "rt", newline="") as file:
        return list(csv.DictReader(file))


def read_gsm8k(folder: Path) -> Sequence[dict[str, str]]:
    """RouteLLM's GSM8K: 1,319 problems with both answers in full."""
    return read_table(gzip.open, folder / "router" / "routellm_gsm8k_responses.csv.gz")


def tokens(*texts: str) -> float:
    """About how many; no tokenizer of these models is here."""
    return sum(map(len, texts)) / CHARACTERS_PER_TOKEN


def _answer(prompt: str, model: str, is_right: str, answer_tokens: float) -> ObservedAnswer:
    usd = (tokens(prompt) + answer_tokens) * USD_PER_TOKEN[model]
    return ObservedAnswer(quality=float(is_right == "True"), usd=usd)
