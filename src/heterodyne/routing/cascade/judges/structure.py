"""Doubt by the form of an answer: whether it is there, whole, and what its request asked for."""

import ast
import re
import warnings
from typing import Final

import msgspec

from heterodyne.domain.json_schema.check import fits, steps_for
from heterodyne.routing.cascade.judges.doubt import UNUSABLE, AnswerForm, Doubt, JudgedAnswer, WrittenCall

WELL_FORMED: Final = "well_formed"
EMPTY: Final = "empty"
CUT_OFF: Final = "cut_off"
REFUSED: Final = "refused"
NOT_JSON: Final = "not_json"
NOT_OF_SCHEMA: Final = "not_of_schema"
UNKNOWN_TOOL: Final = "unknown_tool"
CALL_INVALID: Final = "call_invalid"
NO_CODE: Final = "no_code"
CODE_BROKEN: Final = "code_broken"
NO_FINAL: Final = "no_final_mark"

CUT_OFF_RISK: Final = 0.9  # may be long on purpose
REFUSED_RISK: Final = 0.8  # the big model may refuse as well
NO_FINAL_RISK: Final = 0.7
CODE_CHARACTERS_MAX: Final = 100_000  # more is not parsed: a parser's time and stack are not bounded by much else

_FENCE: Final = re.compile(r"```(?:python|py)?[ \t]*\n(.*?)(?:```|\Z)", re.DOTALL)
_REFUSAL: Final = re.compile(
    r"^\W*(?:i['’]?m sorry|sorry|i am sorry|i apologi[sz]e|unfortunately,? i|as an ai"
    r"|i (?:can['’]?t|cannot|am unable|am not able|won['’]?t))\b",
    re.IGNORECASE,
)


def judge(answer: JudgedAnswer, form: AnswerForm) -> Doubt:
    """Always says something: the first that is wrong."""
    if answer.calls:
        return _call_doubt(answer.calls, form)
    text = answer.text.strip()
    if not text:
        return Doubt(risk=UNUSABLE, reason=EMPTY)
    broken = _broken_form(text, form)
    if broken is not None:
        return Doubt(risk=UNUSABLE, reason=broken)
    if answer.finish_reason == "length":
        return Doubt(risk=CUT_OFF_RISK, reason=CUT_OFF)
    if _REFUSAL.match(text):
        return Doubt(risk=REFUSED_RISK, reason=REFUSED)
    if form.final_mark is not None and form.final_mark not in text:
        return Doubt(risk=NO_FINAL_RISK, reason=NO_FINAL)
    return Doubt(risk=0.0, reason=WELL_FORMED)


def _broken_form(text: str, form: AnswerForm) -> str | None:
    if form.is_json or form.schema is not None:
        try:
            value = msgspec.json.decode(text)
        except (msgspec.DecodeError, RecursionError, UnicodeError):
            return NOT_JSON
        if form.schema is None or fits(value, form.schema, steps_max=steps_for(len(text))):
            return None
        return NOT_OF_SCHEMA
    if form.language == "python":
        return _broken_code(text)
    return None


def _broken_code(text: str) -> str | None:
    """Code stands in fences, or is all of the text."""
    blocks = _FENCE.findall(text) or [text]
    code = "\n".join(blocks)
    if not code.strip():
        return NO_CODE
    if len(code) > CODE_CHARACTERS_MAX:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an odd escape in an answer is not our warning
            tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return CODE_BROKEN
    is_prose = all(isinstance(node, ast.Expr) and isinstance(node.value, ast.Name) for node in tree.body)
    return NO_CODE if is_prose else None


def _call_doubt(calls: tuple[WrittenCall, ...], form: AnswerForm) -> Doubt:
    for call in calls:
        try:
            arguments = msgspec.json.decode(call.arguments or "{}")
        except (msgspec.DecodeError, RecursionError, UnicodeError):
            return Doubt(risk=UNUSABLE, reason=CALL_INVALID)
        if not isinstance(arguments, dict):
            return Doubt(risk=UNUSABLE, reason=CALL_INVALID)
        if form.tools is None:
            continue
        if call.name not in form.tools:
            return Doubt(risk=UNUSABLE, reason=UNKNOWN_TOOL)
        if any(name not in arguments for name in form.tools[call.name]):
            return Doubt(risk=UNUSABLE, reason=CALL_INVALID)
    return Doubt(risk=0.0, reason=WELL_FORMED)
