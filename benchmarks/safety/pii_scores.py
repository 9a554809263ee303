"""Findings beside what the public data say stands in a text."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Final

from msgspec import Struct

from heterodyne.safety.finding import Finding
from heterodyne.safety.pii.finder import PIIFinder
from heterodyne.safety.pii.registry import KINDS
from heterodyne.safety.secrets import find_secrets

PLACES: Final = ("place", "street_address", "postal_code", "uk_postcode", "ca_postal_code", "de_postal_code")
# Our rules for each of the data's kinds: the first is the one that its precision is counted of.
RULES: Final[dict[str, tuple[str, ...]]] = {
    "PERSON": ("person",),
    "GPE": ("place", *PLACES),
    "STREET_ADDRESS": ("street_address", *PLACES),
    "ZIP_CODE": ("postal_code", *PLACES),
    "ORGANIZATION": ("organisation",),
    "CREDIT_CARD": ("credit_card",),
    "PHONE_NUMBER": ("phone", "tr_phone"),
    "EMAIL_ADDRESS": ("email",),
    "IBAN_CODE": ("iban",),
    "US_SSN": ("us_ssn",),
    "US_DRIVER_LICENSE": ("us_driver_license",),
    "IP_ADDRESS": ("ip_address",),
    "DOMAIN_NAME": ("url",),
    "DATE_TIME": ("date", "date_of_birth"),
    "AGE": ("age",),
}
NOT_LOOKED_FOR: Final = ("TITLE", "NRP")
CASE_RULES: Final = {
    "ABA_ROUTING_NUMBER": "us_aba_routing",
    "MEDICAL_LICENSE": "us_medical_license",
    "CRYPTO": "crypto_address",
    "DATE_TIME": "date",
    "DE_FUEHRERSCHEIN": "de_driving_licence",
    "DE_KFZ": "de_number_plate",
    "DE_PLZ": "de_postal_code",
    "TR_PHONE_NUMBER": "tr_phone",
}
LEAST: Final = 0.05  # a threshold under which every shape is reported, context or not
PROMPT: Final = (
    "You are a helpful assistant. Please summarise the following notes about our release process and turn them "
    "into a checklist. The team writes a change, runs the tests, and asks two colleagues for a review. When both "
    "have approved, the change is merged and a build is made. The build goes to a staging environment first, "
    "where it is watched for a while; if nothing unusual is seen there, it is rolled out to a small share of the "
    "traffic, then to half of it, and finally to everything. Whenever an alert fires, the rollout is stopped and "
    "the previous version comes back. Afterwards somebody writes down what happened and what should be done "
    "differently next time. Keep the checklist short and use simple words. Do not add steps that are not in the "
    "notes. If a step is unclear, say so in one sentence at the end, and suggest how it could be improved without"
    " making the whole process slower for everyone involved."
)
NUMBERS: Final = (
    PROMPT.replace("two colleagues", "2 colleagues").replace("half of it", "50 % of it") + " Use 200 words."
)
PERSONAL: Final = PROMPT[:700] + (
    " My name is Jane Roe, I live at 12 Elm Street, Springfield, and you reach me at jane.roe@example.com or "
    "+44 20 7946 0958; the card is 4111 1111 1111 1111."
)


class Score(Struct, frozen=True, kw_only=True):
    """One kind in one half of the texts."""

    spans: int
    found: int
    findings: int
    right: int

    @property
    def precision(self) -> float:
        return self.right / self.findings if self.findings else 1.0

    @property
    def recall(self) -> float:
        return self.found / self.spans if self.spans else 1.0

    @property
    def f1(self) -> float:
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


class Spans(Struct, frozen=True, kw_only=True):
    """One half of the texts."""

    texts: int
    kinds: dict[str, Score]
    others: Counter[str]  # findings of kinds that these data do not have: all wrong
    masked: float  # share of the spans that would be masked, whatever they were taken for


class CaseScore(Struct, kw_only=True):
    """The edge cases of one recogniser."""

    wanted: int = 0
    found: int = 0
    found_by_default: int = 0
    empty: int = 0
    false: int = 0
    false_by_default: int = 0


class Ordinary(Struct, frozen=True, kw_only=True):
    """What was found in prompts that were not written by anybody about themselves."""

    name: str
    prompts: int
    findings: Counter[str]


def spans(rows: Sequence[dict[str, Any]]) -> Spans:
    """How the findings of every kind match the spans of some texts."""
    finder = PIIFinder(KINDS)
    counts: Counter[tuple[str, str]] = Counter()
    others: Counter[str] = Counter()
    masked = total = 0
    known = {rule for rules in RULES.values() for rule in rules}
    for row in rows:
        findings = finder.find(row["full_text"])
        for span in row["spans"]:
            kind = span["entity_type"]
            if kind in NOT_LOOKED_FOR:
                continue
            place = (span["start_position"], span["end_position"])
            counts[kind, "spans"] += 1
            counts[kind, "found"] += _is_covered(*place, [f for f in findings if f.rule in RULES[kind]])
            total += 1
            masked += _is_covered(*place, findings)
        for finding in findings:
            if finding.rule not in known:
                others[finding.rule] += 1
                continue
            kind = _kind_of(finding.rule)
            counts[kind, "findings"] += 1
            counts[kind, "right"] += _is_right(finding, row["spans"])
    kinds = {
        kind: Score(**{part: counts[kind, part] for part in ("spans", "found", "findings", "right")}) for kind in RULES
    }
    return Spans(texts=len(rows), kinds=kinds, others=others, masked=masked / max(1, total))


def edge_cases(cases: Sequence[dict[str, Any]]) -> dict[str, CaseScore]:
    """Every recogniser alone on its own cases, with and without the need for context words."""
    scores: dict[str, CaseScore] = {}
    for case in cases:
        score = scores.setdefault(" and ".join(case["entities"]), CaseScore())
        rules = [CASE_RULES.get(entity, entity.lower()) for entity in case["entities"]]
        places = case["expected_positions"] or []
        if places and not isinstance(places[0], list):
            places = [places]
        wanted = case["expected_len"]
        found = [_matched(PIIFinder(rules, threshold=least), case["text"], wanted, places) for least in (LEAST, 0.5)]
        if wanted == 0:
            score.empty += 1
            score.false += found[0] > 0
            score.false_by_default += found[1] > 0
        else:
            score.wanted += wanted
            score.found += found[0]
            score.found_by_default += found[1]
    return scores


def ordinary(name: str, prompts: Sequence[str]) -> Ordinary:
    """What the finder of a usual policy reports in prompts."""
    finder = PIIFinder()
    findings: Counter[str] = Counter()
    for prompt in prompts:
        findings.update(finding.rule for finding in (*finder.find(prompt), *find_secrets(prompt)))
    return Ordinary(name=name, prompts=len(prompts), findings=findings)


def times_us() -> dict[str, tuple[float, float]]:
    """The quickest of many rounds, for personal data and for secrets."""
    finder = PIIFinder()
    return {
        f"{what}, {len(text)} characters": (_quickest_us(finder.find, text), _quickest_us(find_secrets, text))
        for what, text in (
            ("plain prompt", PROMPT),
            ("the same with three numbers", NUMBERS),
            ("with a name, an address, a telephone, an e-mail and a card", PERSONAL),
        )
    }


def _quickest_us(find: Callable[[str], list[Finding]], text: str, calls: int = 20, rounds: int = 300) -> float:
    quickest = float("inf")
    for _ in range(rounds):
        began = time.perf_counter()
        for _ in range(calls):
            find(text)
        quickest = min(quickest, (time.perf_counter() - began) / calls)
    return quickest * 1e6


def _matched(finder: PIIFinder, text: str, wanted: int, places: list[list[int]]) -> int:
    findings = finder.find(text)
    if wanted == 0 or len(places) != wanted:
        return len(findings) if wanted == 0 else min(wanted, len(findings))
    return sum(any(f.start < end and start < f.end for f in findings) for start, end in places)


def _kind_of(rule: str) -> str:
    return next((kind for kind, rules in RULES.items() if rules[0] == rule), "") or next(
        kind for kind, rules in RULES.items() if rule in rules
    )


def _is_covered(start: int, end: int, findings: Sequence[Finding]) -> bool:
    covered = sum(max(0, min(end, finding.end) - max(start, finding.start)) for finding in findings)
    return 2 * covered >= end - start


def _is_right(finding: Finding, truth: Sequence[dict[str, Any]]) -> bool:
    inside = sum(
        max(0, min(finding.end, span["end_position"]) - max(finding.start, span["start_position"]))
        for span in truth
        if finding.rule in RULES.get(span["entity_type"], ())
    )
    return 2 * inside >= finding.end - finding.start
