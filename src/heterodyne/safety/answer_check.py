"""What guards make of an answer that comes whole."""

from collections.abc import Sequence
from typing import Any, Final

import msgspec
from msgspec import structs

from heterodyne.safety.guarded import NOTHING_FOUND, Guarded, told
from heterodyne.safety.inspection.checks import CUT, KEPT, inspected_answer, inspected_text
from heterodyne.safety.look import Found, look
from heterodyne.safety.masking import mask, restore
from heterodyne.safety.placeholders import Masker, Placeholders
from heterodyne.safety.policy import GuardRule, split
from heterodyne.safety.remote.judged import Judged, found_in, verdicts_of
from heterodyne.safety.structure.expected import ANYTHING
from heterodyne.safety.texts import OWN_MEMBERS, Texts

SAID: Final = (".content", ".text")


def check_answer(
    rules: Sequence[GuardRule],
    placeholders: Placeholders,
    body: bytes,
    *,
    judged: Sequence[Judged] = (),
    restores: bool = True,
    expected: bytes = ANYTHING,
) -> tuple[Guarded, bytes]:
    """The answer as its client may have it, in JSON, with what was masked in the request put back, unless somebody
    else than the client is to see it.

    A choice that a rule blocks, or a guard elsewhere (`judged`), ends before the finding; an answer without choices is
    blocked as a whole. How it is made is judged of what its client would get, by what its request lets it be
    (`expected`).
    """
    worded, structural = split(rules)
    if not structural:
        return _check_words(worded, placeholders, body, judged=judged, restores=restores)
    said = NOTHING_FOUND
    if worded or placeholders.values or judged:
        said, body = _check_words(worded, placeholders, body, judged=judged, restores=restores)
        if said.blocked is not None:
            return said, body
    made, body = inspected_answer(structural, body, expected)
    return structs.replace(said, verdicts=said.verdicts + made.verdicts, blocked=made.blocked), body


def check_text(rules: Sequence[GuardRule], placeholders: Placeholders, text: str) -> tuple[Guarded, str]:
    """The same of an answer that is no JSON, such as subtitles."""
    worded, structural = split(rules)
    texts = Texts(text)
    found = look(worded, texts.units) if worded else []
    verdicts = told(found, "output") + inspected_text(structural, len(text)).verdicts
    mask(found, texts.units, Masker(placeholders.values))
    blocked = next((one for one in verdicts if one.action == "block"), None)
    return Guarded(verdicts=verdicts, blocked=blocked), placeholders.restore(texts.document)


def _check_words(
    rules: Sequence[GuardRule], placeholders: Placeholders, body: bytes, *, judged: Sequence[Judged], restores: bool
) -> tuple[Guarded, bytes]:
    texts = Texts(msgspec.json.decode(body), skipped=OWN_MEMBERS)
    found = look(rules, texts.units) if rules else []
    verdicts = told(found, "output") + verdicts_of(judged, "output")
    found += found_in(judged, texts.units)
    document = texts.document
    choices = document.get("choices") if isinstance(document, dict) else None
    blocked = next((one for one in verdicts if one.action == "block"), None)
    if blocked is not None and not isinstance(choices, list):
        return Guarded(verdicts=verdicts, blocked=blocked), body
    is_changed = blocked is not None
    if is_changed:
        found = _cut(choices, found)
    is_changed |= mask(found, texts.units, Masker(placeholders.values))
    if restores and placeholders.values and b"<" in body:  # walked anew, as what was cut off must not come back
        is_changed |= restore(Texts(document, skipped=OWN_MEMBERS).units, placeholders)
    if not is_changed:
        return Guarded(verdicts=verdicts), body
    for choice in choices or ():
        if isinstance(choice, dict) and "logprobs" in choice:
            choice["logprobs"] = None  # they would tell the words that stood there
    return Guarded(verdicts=verdicts), msgspec.json.encode(document)


def _cut(choices: Any, found: Sequence[Found]) -> list[Found]:
    """End choices before what must not be said; returns the findings that are left to be masked.

    Its words before that are left of such a choice, and nothing else.
    """
    left = list(found)
    for number, choice in enumerate(choices):
        own = f"choices[{number}]."
        cuts = [one for one in found if one.rule.action == "block" and one.unit.where.startswith(own)]
        if not cuts or not isinstance(choice, dict):
            continue
        for one in sorted(cuts, key=_start, reverse=True):
            if one.unit.where.endswith(SAID):
                one.unit.put([(one.finding.start, len(one.unit.text), "")])
        left = [one for one in left if not one.unit.where.startswith(own) or _is_left(one)]
        choice["finish_reason"] = CUT
        message = choice.get("message")
        if isinstance(message, dict):
            for name in [name for name in message if name not in KEPT]:
                del message[name]
    return left


def _start(found: Found) -> int:
    return found.finding.start


def _is_left(found: Found) -> bool:
    return found.unit.where.endswith(SAID) and found.finding.end <= len(found.unit.text)
