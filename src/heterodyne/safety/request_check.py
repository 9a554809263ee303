"""What guards make of the body of a request."""

from collections.abc import Sequence

import msgspec

from heterodyne.domain.guard_verdict import GuardVerdict
from heterodyne.engines.form_body import FORM, Form
from heterodyne.safety.guarded import NOTHING_FOUND, UNREADABLE, Guarded, told, unreadable
from heterodyne.safety.look import look
from heterodyne.safety.masking import mask
from heterodyne.safety.placeholders import Masker
from heterodyne.safety.policy import GuardRule
from heterodyne.safety.texts import Texts


def check_request(rules: Sequence[GuardRule], body: bytes, media_type: str = "") -> tuple[Guarded, bytes]:
    """The body as an engine may see it, and what was found; the very same body where nothing was changed."""
    form = Form(body) if media_type.startswith(FORM) else None
    texts = Texts(msgspec.json.decode(body) if form is None else form.fields())
    found = look(rules, texts.units)
    if not found and not texts.has_ids:
        return NOTHING_FOUND, body
    verdicts = told(found, "input")
    if texts.has_ids:
        verdicts += tuple(unreadable(rule) for rule in rules)
    blocked = next((one for one in verdicts if _blocks(one)), None)
    masker = Masker()
    if blocked is not None or not mask(found, texts.units, masker):
        return Guarded(verdicts=verdicts, blocked=blocked), body
    restores = any(rule.settings.restores for rule in rules if rule.action == "mask")
    changed = msgspec.json.encode(texts.document) if form is None else form.with_fields(texts.document)
    return Guarded(verdicts=verdicts, values=masker.values if restores else {}), changed


def _blocks(one: GuardVerdict) -> bool:
    """A prompt of token ids might hold anything, and nothing in it can be masked."""
    return one.action == "block" or (one.rule == UNREADABLE and one.action == "mask")
