"""What policies of structure make of a request, and of an answer that comes whole."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import structs

from heterodyne.domain.guard_verdict import Direction, GuardVerdict
from heterodyne.safety.guarded import FINDINGS_MAX, NOTHING_FOUND, Guarded
from heterodyne.safety.policy import GuardRule
from heterodyne.safety.structure.breach import Breach
from heterodyne.safety.structure.expected import ANYTHING, ExpectedAnswer, expected_of, read_expected
from heterodyne.safety.texts import OWN_MEMBERS, Texts

CUT: Final = "content_filter"  # why a choice ends that a rule has cut off
KEPT: Final = ("role", "content")  # of a message that was cut off


def inspected_request(rules: Sequence[GuardRule], texts: Texts) -> Guarded:
    """What is wrong with it, and what its answer may be, for rules that want to know."""
    verdicts: list[GuardVerdict] = []
    expected = ANYTHING
    for rule in rules:
        inspector = rule.inspector
        assert inspector is not None
        if inspector.reads_requests and not expected:
            expected = expected_of(texts.document)
        if rule.direction != "output":
            verdicts += [breach_verdict(rule, one, "input") for one in inspector.in_request(texts)]
    return _guarded(verdicts, expected)


def inspected_answer(rules: Sequence[GuardRule], body: bytes, expected: bytes) -> tuple[Guarded, bytes]:
    """The answer as its client may have it, in JSON; a choice that is blocked keeps its words as far as they may be
    said."""
    document = msgspec.json.decode(body)
    choices = document.get("choices") if isinstance(document, dict) else None
    if not isinstance(choices, list):
        chars = sum(len(part) for unit in Texts(document, skipped=OWN_MEMBERS).units for part in unit.parts)
        return inspected_text(rules, chars), body
    asked = read_expected(expected) if expected else None
    verdicts: list[GuardVerdict] = []
    is_changed = False
    for number, choice in enumerate(choices):
        if not isinstance(choice, dict):
            continue
        keeps: list[int | None] = []
        for rule, one in breaches_in(rules, choice, number, asked):
            verdicts.append(breach_verdict(rule, one, "output"))
            if rule.action == "block":
                keeps.append(one.keeps)
        if keeps:
            _cut(choice, min((one for one in keeps if one is not None), default=None))
            is_changed = True
    guarded = structs.replace(_guarded(verdicts), blocked=None)  # the others may be told
    return guarded, msgspec.json.encode(document) if is_changed else body


def inspected_text(rules: Sequence[GuardRule], chars: int) -> Guarded:
    """Of an answer without choices, which is blocked as a whole."""
    verdicts = []
    for rule in rules:
        assert rule.inspector is not None
        one = rule.inspector.in_text(chars)
        if one is not None:
            verdicts.append(breach_verdict(rule, one, "output"))
    return _guarded(verdicts) if verdicts else NOTHING_FOUND


def breaches_in(
    rules: Sequence[GuardRule],
    choice: Mapping[str, Any],
    index: object,
    expected: ExpectedAnswer | None,
    *,
    where: str = "",
) -> list[tuple[GuardRule, Breach]]:
    """What is wrong with one choice."""
    where = where or (f"choices[{index}].message" if "message" in choice else f"choices[{index}]")
    return [
        (rule, one)
        for rule in rules
        if rule.inspector is not None
        for one in rule.inspector.in_choice(choice, where, expected)
    ]


def breach_verdict(rule: GuardRule, breach: Breach, direction: Direction) -> GuardVerdict:
    """What is told of it."""
    return GuardVerdict(
        policy=rule.policy,
        guard=rule.settings.guard,
        version=rule.version,
        rule=breach.rule,
        action=rule.action,
        direction=direction,
        where=breach.where,
        start=breach.start,
        end=breach.end,
    )


def _guarded(verdicts: list[GuardVerdict], expected: bytes = ANYTHING) -> Guarded:
    if len(verdicts) > FINDINGS_MAX:
        verdicts.sort(key=lambda one: one.action != "block")
    blocked = next((one for one in verdicts if one.action == "block"), None)
    return Guarded(verdicts=tuple(verdicts[:FINDINGS_MAX]), blocked=blocked, expected=expected)


def _cut(choice: dict[str, Any], keeps: int | None) -> None:
    """Its words as far as they may be said are left of it, and nothing else."""
    message = choice.get("message")
    holder, member = (message, "content") if isinstance(message, dict) else (choice, "text")
    text = holder.get(member)
    if isinstance(text, str) and keeps is not None:
        holder[member] = text[:keeps]
    if isinstance(message, dict):
        for name in [name for name in message if name not in KEPT]:
            del message[name]
    choice["finish_reason"] = CUT
    if "logprobs" in choice:
        choice["logprobs"] = None  # they would tell the words that stood there
