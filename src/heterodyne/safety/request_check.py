"""What guards make of the body of a request."""

from collections.abc import Sequence

import msgspec

from heterodyne.domain.guard_verdict import GuardVerdict
from heterodyne.engines.form_body import FORM, Form
from heterodyne.safety.guarded import NOTHING_FOUND, UNREADABLE, Guarded, told, unreadable
from heterodyne.safety.inspection.checks import inspected_request
from heterodyne.safety.look import look
from heterodyne.safety.masking import mask
from heterodyne.safety.placeholders import Masker
from heterodyne.safety.policy import GuardRule, split
from heterodyne.safety.prompt_leak import ORDERS, runs_of
from heterodyne.safety.registry import SYSTEM_PROMPT
from heterodyne.safety.texts import Texts


def check_request(rules: Sequence[GuardRule], body: bytes, media_type: str = "") -> tuple[Guarded, bytes]:
    """The body as an engine may see it, and what was found; the very same body where nothing was changed."""
    form = Form(body) if media_type.startswith(FORM) else None
    texts = Texts(msgspec.json.decode(body) if form is None else form.fields())
    worded, structural = split(rules)
    found = look(worded, texts.units) if worded else []
    runs, has_ids = _system_runs(worded, texts), bool(worded) and texts.has_ids
    made = inspected_request(structural, texts) if structural else NOTHING_FOUND
    if not found and not has_ids and not made.verdicts:
        return Guarded(system_runs=runs, expected=made.expected) if runs or made.expected else NOTHING_FOUND, body
    verdicts = told(found, "input")
    if has_ids:
        verdicts += tuple(unreadable(rule) for rule in worded)
    verdicts += made.verdicts
    blocked = next((one for one in verdicts if _blocks(one)), None)
    masker = Masker()
    if blocked is not None or not mask(found, texts.units, masker):
        return Guarded(verdicts=verdicts, blocked=blocked, system_runs=runs, expected=made.expected), body
    restores = any(rule.settings.restores for rule in worded if rule.action == "mask")
    changed = msgspec.json.encode(texts.document) if form is None else form.with_fields(texts.document)
    values = masker.values if restores else {}
    return Guarded(verdicts=verdicts, values=values, system_runs=runs, expected=made.expected), changed


def _system_runs(rules: Sequence[GuardRule], texts: Texts) -> tuple[str, ...]:
    if not any(rule.settings.guard == SYSTEM_PROMPT for rule in rules):
        return ()
    return runs_of(tuple(unit.text for unit in texts.units if unit.role in ORDERS))


def _blocks(one: GuardVerdict) -> bool:
    """A prompt of token ids might hold anything, and nothing in it can be masked."""
    return one.action == "block" or (one.rule == UNREADABLE and one.action == "mask")
