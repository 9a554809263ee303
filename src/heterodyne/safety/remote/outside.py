"""What a guard of somebody else's is asked over HTTP, and what its answer means.

POST {"direction": "input", "project": "acme/chat", "model": "gpt-5", "texts": [{"where": …, "text": …}]}
200  {"findings": [{"rule": "hate", "score": 0.97, "where": "messages[0].content"}]}
"""

import re
from typing import Annotated, Final

import msgspec
from msgspec import Meta, Struct

from heterodyne.domain.guard_verdict import Direction
from heterodyne.safety.remote.asked_texts import AskedTexts
from heterodyne.safety.remote.judged import RULE_PATTERN, RemoteFinding
from heterodyne.safety.remote.look_failed import LookFailed

FINDINGS_MAX: Final = 256
WHERE: Final = re.compile(r"[\w.\[\]() -]{1,200}", re.ASCII)

Rule = Annotated[str, Meta(pattern=RULE_PATTERN)]
Score = Annotated[float, Meta(ge=0, le=1)]


class OutsideFinding(Struct, frozen=True):
    """As it is told."""

    rule: Rule
    score: Score
    where: str | None = None


class OutsideAnswer(Struct, frozen=True):
    """All that was found."""

    findings: Annotated[tuple[OutsideFinding, ...], Meta(max_length=FINDINGS_MAX)]


_decode = msgspec.json.Decoder(OutsideAnswer).decode
_encode = msgspec.json.Encoder().encode


def outside_question(direction: Direction, project: str, model: str, texts: AskedTexts) -> bytes:
    """The body of the request."""
    asked = {"direction": direction, "project": project, "model": model, "texts": msgspec.Raw(texts.json)}
    return _encode(asked)


def read_outside(status: int, body: bytes) -> tuple[RemoteFinding, ...] | LookFailed:
    """What was found, or why nobody knows; a path that is none of ours is left out."""
    if status != 200:
        return LookFailed(f"it answered with status {status}")
    try:
        answer = _decode(body)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return LookFailed("its answer has no findings in it as they are agreed on")
    return tuple(
        RemoteFinding(rule=one.rule, score=one.score, where=one.where if one.where and _is_path(one.where) else "")
        for one in answer.findings
    )


def _is_path(where: str) -> bool:
    return WHERE.fullmatch(where) is not None
