"""Placeholders into the texts of a document, and back out of those of its answer."""

from collections.abc import Iterable, Sequence

import msgspec

from heterodyne.safety.finding import Finding
from heterodyne.safety.look import Found
from heterodyne.safety.overlaps import covering
from heterodyne.safety.placeholders import Masker, Placeholders
from heterodyne.safety.texts import TextUnit


def mask(found: Sequence[Found], units: Iterable[TextUnit], masker: Masker) -> bool:
    """Put a placeholder for each finding of a rule that masks; False where there is none."""
    masked: dict[int, tuple[TextUnit, list[Finding]]] = {}
    for one in found:
        if one.rule.action == "mask":
            masked.setdefault(id(one.unit), (one.unit, []))[1].append(one.finding)
    if not masked:
        return False
    for unit in units:
        masker.read(unit.text)
    for unit, findings in masked.values():
        text = unit.text
        unit.put([(one.start, one.end, masker.word(one.rule, _meant(unit, text, one))) for one in covering(findings)])
    return True


def restore(units: Iterable[TextUnit], placeholders: Placeholders) -> bool:
    """Put back what was masked; False where no text has a placeholder."""
    escaped, is_changed = placeholders.escaped, False
    for unit in units:
        text = unit.text
        restored = (escaped if unit.is_json else placeholders).restore(text)
        if restored != text:
            unit.put([(0, len(text), restored)])
            is_changed = True
    return is_changed


def _meant(unit: TextUnit, text: str, finding: Finding) -> str:
    value = text[finding.start : finding.end]
    if unit.is_json and "\\" in value:
        try:
            return str(msgspec.json.decode(f'"{value}"'))
        except ValueError:
            return value  # it begins or ends within an escape, and is put back as it was written
    return value
