"""Whether two answers say the same: at once where their words are equal, and else as a model judges that is asked."""

from typing import Any, Final

import msgspec

TEXT_CHARS_MAX: Final = 4000  # of each text that a judge is shown
JUDGE_TOKENS_MAX: Final = 4
_INSTRUCTIONS: Final = (
    "Two answers to one question are below. Say whether a user is told the same by both: the same facts, the same "
    "advice, the same decision. Style and length do not matter. Reply with one word, yes or no."
)

_decode = msgspec.json.Decoder(dict[str, Any]).decode


def says_the_same(first: bytes, second: bytes) -> bool:
    """Whether two whole chat answers have equal words and calls, spaces and capitals aside."""
    return _said(first) == _said(second)


def judge_messages(question: str, first: bytes, second: bytes) -> list[dict[str, str]]:
    """What a judge is asked about two whole chat answers."""
    answers = (f"Answer {name}:\n{_shown(body)}" for name, body in (("A", first), ("B", second)))
    asked = "\n\n".join((f"Question:\n{question[:TEXT_CHARS_MAX]}", *answers))
    return [{"role": "system", "content": _INSTRUCTIONS}, {"role": "user", "content": asked}]


def try_judgement(answer: bytes) -> bool | None:
    """What a judge has said; None: neither yes nor no."""
    try:
        text = _text(_decode(answer))
    except (msgspec.DecodeError, LookupError, TypeError, AttributeError):
        return None
    word = text.strip(" \t\r\n\"'*.:").lower()
    if word.startswith("yes"):
        return True
    return False if word.startswith("no") else None


def _said(body: bytes) -> list[Any]:
    said = []
    for choice in _decode(body).get("choices") or ():
        message = choice.get("message") or {}
        calls = [call.get("function") for call in message.get("tool_calls") or ()]
        said.append((" ".join((message.get("content") or "").casefold().split()), calls, choice.get("finish_reason")))
    return said


def _shown(body: bytes) -> str:
    answer = _decode(body)
    message = answer["choices"][0]["message"]
    calls = [call.get("function") for call in message.get("tool_calls") or ()]
    text = message.get("content") or ""
    return (text + msgspec.json.encode(calls).decode() if calls else text)[:TEXT_CHARS_MAX]


def _text(answer: dict[str, Any]) -> str:
    text = answer["choices"][0]["message"]["content"]
    return text if isinstance(text, str) else ""
