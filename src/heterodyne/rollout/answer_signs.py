"""Pure: signs of how good an answer is that need no second model: refusals, tool calls, words said again and again.

Each errs now and then, alike on both sides: what a rollout compares is how often.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from heterodyne.domain.json_schema.check import fits, steps_for
from heterodyne.rollout.said import CalledTool, Said

OPENING_CHARS: Final = 240  # in which a refusal says so
RUN_WORDS: Final = 4
WORDS_MIN: Final = 24  # of fewer, hardly anything can be said twice
WORDS_MAX: Final = 2000

_CANNOT: Final = r"(?:can't|cannot|can not|won't|(?:'m|am|are|'re) (?:not able|unable) to|(?:'m|am) not going to)"
_HELP: Final = (
    r"(?:help|assist|provide|comply|fulfil|do (?:that|this|so)|support|engage|create|answer|discuss|generate|write|"
    r"give|share|offer|participate|continue|complete|process|be able)"
)
_REFUSALS: Final = re.compile(
    rf"^\W*(?:(?:i'm |i am |we're |we are )?(?:very |so |really )?sorry\b.{{0,60}}?\b{_CANNOT}"
    rf"|(?:unfortunately,? |as an ai[^.]{{0,40}}?,? |i apologi[sz]e,? (?:but )?)?(?:i|we) ?{_CANNOT} (?:\w+ )?{_HELP}"
    r"|(?:es )?tut mir leid,? (?:aber |doch )?.{0,30}?kann .{0,60}?nicht"
    r"|(?:je suis )?désolée?,? (?:mais )?je ne (?:peux|suis)"
    r"|lo siento,? (?:pero )?no puedo"
    r"|(?:很抱歉|抱歉|对不起)[，,].{0,10}?(?:无法|不能))",
    re.IGNORECASE | re.DOTALL,
)


def sign_values(said: Said, tools: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """By metric; `tools` are the JSON schemas of those that were offered."""
    values = {"refusals": float(said.is_declined or is_refusal(said.text))}
    if said.calls:
        values["invalid_tool_calls"] = float(not all(is_valid_call(call, tools) for call in said.calls))
    quality = try_quality(said.text)
    if quality is not None:
        values["quality"] = quality
    return values


def is_refusal(text: str) -> bool:
    """Whether it begins as refusals do."""
    return _REFUSALS.match(text[:OPENING_CHARS].replace("’", "'")) is not None


def is_valid_call(call: CalledTool, tools: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether it names a tool that was offered, with arguments of its schema."""
    schema = tools.get(call.name)
    if schema is None:
        return False
    try:
        given = msgspec.json.decode(call.arguments or "{}")
    except msgspec.DecodeError:
        return False
    if not isinstance(given, dict):
        return False
    return fits(given, schema, steps_max=steps_for(len(call.arguments)))


def try_quality(text: str) -> float | None:
    """Of its runs of four words, those that it has not said before: a damaged model goes round in circles. None: it is
    too short to tell."""
    words = text.split()[:WORDS_MAX]
    if len(words) < WORDS_MIN:
        return None
    runs = [tuple(words[at : at + RUN_WORDS]) for at in range(len(words) - RUN_WORDS + 1)]
    return len(set(runs)) / len(runs)
