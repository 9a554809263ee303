"""GSM8K with judged answers: what can be said of Mixtral's answer by itself, and beside answers of older models.

OpenAI's four solutions per problem stand in for further cheap samples. Two of them are single samples; the two
"verification" ones are the best of a hundred samples by a verifier, and are priced as that.
"""

import json
import lzma
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from benchmarks.cascade.public_sets import GPT4, MIXTRAL, USD_PER_TOKEN, PublicSet, read_gsm8k, tokens
from heterodyne.routing.cascade.judges.catalogue import judged
from heterodyne.routing.cascade.judges.doubt import AnswerForm, JudgedAnswer
from heterodyne.routing.cascade.observed_row import ObservedAnswer, ObservedRow

FORM = AnswerForm(final_mark="####")  # which the few-shot prompt shows
SMALL_USD_PER_TOKEN = 0.20e-6  # of 7B models in LLMRouter's price list
LARGE_USD_PER_TOKEN = 1.80e-6  # of its largest, 122B
VERIFIED_CALLS = 200  # a hundred samples, each also read by the verifier
SAMPLE_USD_PER_TOKEN = {
    "6b_finetuning": SMALL_USD_PER_TOKEN,
    "6b_verification": SMALL_USD_PER_TOKEN * VERIFIED_CALLS,
    "175b_finetuning": LARGE_USD_PER_TOKEN,
    "175b_verification": LARGE_USD_PER_TOKEN * VERIFIED_CALLS,
}


class JudgedBy(Struct, frozen=True, kw_only=True):
    """A way to judge: which further samples are taken."""

    name: str
    samples: tuple[str, ...]


WAYS = (
    JudgedBy(name="the answer alone (form, sums, numbers)", samples=()),
    JudgedBy(name="and a sample of a 6B model", samples=("6b_finetuning",)),
    JudgedBy(name="and a sample of a 6B and of a 175B model", samples=("6b_finetuning", "175b_finetuning")),
    JudgedBy(
        name="and all four solutions, verified ones included",
        samples=("6b_finetuning", "6b_verification", "175b_finetuning", "175b_verification"),
    ),
)


def gsm8k(folder: Path, way: JudgedBy | None) -> PublicSet:
    """The rows; without a way to judge, prompts alone."""
    with lzma.open(folder / "eval_sets" / "gsm8k_four_model_solutions.jsonl.xz", "rt") as file:
        solved = {line["question"].strip(): line for line in map(json.loads, file)}
    rows = tuple(_row(line, solved[line["prompt"].strip()], way) for line in read_gsm8k(folder))
    return PublicSet(name="GSM8K", cheap=MIXTRAL, big=GPT4, rows=rows, groups=("GSM8K",) * len(rows), held_back_parts=2)


def _row(line: dict[str, str], solutions: dict[str, dict[str, str]], way: JudgedBy | None) -> ObservedRow:
    prompt = line["prompt"]
    models = {
        model: ObservedAnswer(
            quality=float(line[model] == "True"),
            usd=tokens(prompt, line[f"{model}_response"]) * USD_PER_TOKEN[model],
        )
        for model in (MIXTRAL, GPT4)
    }
    if way is None:
        return ObservedRow(prompt=prompt, models=models)
    samples = [solutions[name]["solution"] for name in way.samples]
    answer = JudgedAnswer(text=line[f"{MIXTRAL}_response"], question=prompt, samples=tuple(samples))
    return ObservedRow(
        prompt=prompt,
        models=models,
        judges={name: doubt.risk for name, doubt in judged(answer, FORM).items()},
        judge_usd=_samples_usd(prompt, samples, way.samples),
    )


def _samples_usd(prompt: str, samples: Sequence[str], names: Sequence[str]) -> float:
    return sum(tokens(prompt, sample) * SAMPLE_USD_PER_TOKEN[name] for sample, name in zip(samples, names, strict=True))
