"""Ordinary prompts from public data, and planted campaigns of one template over many keys."""

import csv
import gzip
import json
import lzma
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from heterodyne.domain.abuse_sign import AbuseSign
from heterodyne.safety.abuse.minhash import MinHasher
from heterodyne.safety.abuse.prompt_words import both_ends, words_of
from heterodyne.safety.abuse.verbatim_asks import asks_verbatim

HASHER: Final = MinHasher(b"of the benchmark")
HOUR_S: Final = 3600
TEMPLATES: Final = (
    "You are an expert annotator who labels data for a new assistant. Read the following customer message about {slot} "
    "and write the best possible reply in a friendly voice, then explain in three sentences which facts you relied on "
    "and how sure you are of each of them. Customer message: the product {slot} did not arrive in time.",
    "Write a multiple choice question for graduate students on the subject of {slot}. Give four answers of which "
    "exactly one is right, mark the right one, and add a step by step solution that a careful reader could check "
    "without any other source. Do not repeat questions from earlier turns and do not mention these instructions.",
    "Translate the following conversation about {slot} into plain English, keep the names of all speakers, and rate on "
    "a scale how polite every speaker is. Return the result as a list with one entry for each turn of the "
    "conversation, and finish with a summary of what {slot} means to each of them.",
)


def conversations(data: Path) -> dict[str, list[str]]:
    """By source: texts that people have asked of models, or of each other."""
    with lzma.open(data / "traces/aibrix_sharegpt_text_8min_up_and_down.jsonl.xz", "rt") as file:
        shared = [request["prompt"] for line in file for request in json.loads(line)["requests"]]
    with lzma.open(data / "semantic_cache/gptcache_qqp_full.jsonl.xz", "rt") as file:
        asked = [text for line in file for text in _pair(json.loads(line))]
    with gzip.open(data / "eval_sets/ifeval_input_data.jsonl.gz", "rt") as file:
        ifeval = [json.loads(line)["prompt"] for line in file]
    with gzip.open(data / "guardrail_injection/xstest_prompts.csv.gz", "rt") as file:
        safe = [row["prompt"] for row in csv.DictReader(file)]
    return {"ShareGPT": shared, "Quora questions": asked, "IFEval": ifeval, "XSTest": safe}


def judged_pairs(data: Path) -> Iterator[tuple[str, str, bool]]:
    """Questions, and whether people call them the same."""
    with lzma.open(data / "semantic_cache/gptcache_qqp_full.jsonl.xz", "rt") as file:
        for line in file:
            row = json.loads(line)
            yield row["text_a"], row["text_b"], bool(row["label"])


def evaluations(data: Path) -> dict[str, list[str]]:
    """Prompts of test sets, many of which are of one template."""
    with lzma.open(data / "eval_sets/bbh.jsonl.xz", "rt") as file:
        hard = [json.loads(line)["input"] for line in file]
    with gzip.open(data / "eval_sets/gsm8k_test.jsonl.gz", "rt") as file:
        school = [json.loads(line)["question"] for line in file]
    with gzip.open(data / "eval_sets/HumanEval.jsonl.gz", "rt") as file:
        code = [json.loads(line)["prompt"] for line in file]
    return {"BIG-bench hard": hard, "GSM8K": school, "HumanEval": code}


def _pair(row: dict[str, object]) -> Iterator[str]:
    yield str(row["text_a"])
    yield str(row["text_b"])


def sign_of(text: str, key: str, at: float, **fields: object) -> AbuseSign | None:
    """As a worker makes it; None: it has too few words to be compared."""
    looked_at = both_ends(text)
    words = words_of(looked_at)
    if not words:
        return None
    return AbuseSign(
        key,
        f"org-{key}/p",
        "m",
        "m",
        at,
        words=len(words),
        signature=HASHER.signature(words),
        digest=HASHER.digest(looked_at),
        is_verbatim=asks_verbatim(looked_at),
        **fields,  # type: ignore[arg-type]
    )


def spread(texts: Sequence[str], keys: int, rng: random.Random, *, name: str = "user") -> list[AbuseSign]:
    """Each text by a key that is drawn, at a moment of one hour that is drawn."""
    moments = sorted(rng.uniform(0, HOUR_S) for _ in texts)
    pairs = zip(texts, moments, strict=True)
    signs = (sign_of(text, f"{name}-{rng.randrange(keys)}", at) for text, at in pairs)
    return [sign for sign in signs if sign is not None]


def campaign(keys: int, prompts_each: int, changed: float, words: Sequence[str], rng: random.Random) -> list[AbuseSign]:
    """One template over so many keys, each slot filled anew, and this share of all its words replaced by others."""
    template, found = rng.choice(TEMPLATES), []
    for key in range(keys):
        for _ in range(prompts_each):
            text = template.format(slot=" ".join(rng.sample(words, 3)))
            said = [rng.choice(words) if rng.random() < changed else word for word in text.split()]
            sign = sign_of(" ".join(said), f"thief-{key}", rng.uniform(0, HOUR_S))
            assert sign is not None
            found.append(sign)
    return found
