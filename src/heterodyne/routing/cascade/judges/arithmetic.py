"""Doubt by recomputing what an answer computes: `3 * 4 = 13` is wrong whatever the question was."""

import ast
import re
from typing import Final

from heterodyne.routing.cascade.judges.doubt import AnswerForm, Doubt, JudgedAnswer

RIGHT: Final = "sums_are_right"
WRONG: Final = "sum_is_wrong"

WRONG_RISK: Final = 0.9
SUMS_MAX: Final = 64  # of one answer
TOLERANCE: Final = 0.011  # of the result: people round to a cent or a percent

_SUM: Final = re.compile(r"([\d(][\d.,$%\s()+\-*/x×÷]{2,80}?)=\s*\$?(-?\d[\d,]*(?:\.\d+)?)")
_HAS_OPERATOR: Final = re.compile(r"\d\s*\)?\s*[-+*/]\s*\(?\s*\d")
_SPELLED: Final = str.maketrans({"x": "*", "×": "*", "÷": "/", "$": None, ",": None})


def judge(answer: JudgedAnswer, form: AnswerForm) -> Doubt | None:
    """None where nothing is computed."""
    del form
    checked = [is_right for is_right in map(_is_right, _SUM.findall(answer.text)[:SUMS_MAX]) if is_right is not None]
    if not checked:
        return None
    return Doubt(risk=0.0, reason=RIGHT) if all(checked) else Doubt(risk=WRONG_RISK, reason=WRONG)


def _is_right(found: tuple[str, str]) -> bool | None:
    """None where the left side is no sum."""
    written = found[0].translate(_SPELLED).strip()
    if "%" in written or "**" in written or not _HAS_OPERATOR.search(written):
        return None
    try:
        value = _value(ast.parse(written, mode="eval").body)
    except (SyntaxError, ValueError, ZeroDivisionError, OverflowError):
        return None
    return abs(value - float(found[1].replace(",", ""))) <= TOLERANCE * max(1.0, abs(value))


def _value(node: ast.expr) -> float:
    match node:
        case ast.Constant(value=int() | float() as value):
            return float(value)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _value(left) + _value(right)
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return _value(left) - _value(right)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return _value(left) * _value(right)
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            return _value(left) / _value(right)
    raise ValueError("not a sum")
