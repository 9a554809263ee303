"""Prompts that are too long, and answers."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from heterodyne.domain.errors import InvalidSpec
from heterodyne.domain.guard_verdict import Direction
from heterodyne.safety.settings import GuardSettings
from heterodyne.safety.structure.breach import Breach
from heterodyne.safety.structure.expected import ExpectedAnswer
from heterodyne.safety.texts import IDS, OPAQUE_ANYWHERE, SAID_BY_API, Texts

PROMPT_TOO_LONG: Final = "prompt_too_long"
TOO_MANY_MESSAGES: Final = "too_many_messages"
ANSWER_TOO_LONG: Final = "answer_too_long"
BYTES_PER_TOKEN: Final = 4  # of text, whose tokens nobody has counted yet
NOT_SAID: Final = frozenset({"id", "name", "index", *SAID_BY_API, *OPAQUE_ANYWHERE})


class LengthInspector:
    """One for a policy; raises InvalidSpec where it bounds nothing."""

    reads_requests = False
    calls = None

    def __init__(self, settings: GuardSettings) -> None:
        self._prompt_chars_max = settings.prompt_chars_max
        self._prompt_tokens_max = settings.prompt_tokens_max
        self._messages_max = settings.messages_max
        self.answer_chars_max = settings.answer_chars_max
        bounds = (self._prompt_chars_max, self._prompt_tokens_max, self._messages_max, self.answer_chars_max)
        if all(one is None for one in bounds):
            raise InvalidSpec(
                "the guard `length` needs `prompt_chars_max`, `prompt_tokens_max`, `messages_max` or `answer_chars_max`"
            )

    def looks_at(self, direction: Direction) -> bool:
        of_prompts = (self._prompt_chars_max, self._prompt_tokens_max, self._messages_max)
        return self.answer_chars_max is not None if direction == "output" else any(of_prompts)

    def needs_whole(self, expected: ExpectedAnswer | None) -> bool:
        return False

    def in_request(self, texts: Texts) -> Sequence[Breach]:
        found: list[Breach] = []
        document = texts.document
        messages = document.get("messages") if isinstance(document, Mapping) else None
        most = self._messages_max
        if most is not None and isinstance(messages, list) and len(messages) > most:
            found.append(Breach(f"messages[{most}]", TOO_MANY_MESSAGES))
        ids = _ids_in(document) if texts.has_ids else 0
        if self._prompt_chars_max is not None:
            where = _where_over(texts, self._prompt_chars_max)
            if where is not None or ids > self._prompt_chars_max:  # a token has a character at least, as a rule
                found.append(Breach(where or "", PROMPT_TOO_LONG))
        if self._prompt_tokens_max is not None and not found:
            said_bytes = sum(len(part.encode("utf-8", "replace")) for unit in texts.units for part in unit.parts)
            if ids + said_bytes // BYTES_PER_TOKEN > self._prompt_tokens_max:
                found.append(Breach("", PROMPT_TOO_LONG))
        return found

    def in_choice(self, choice: Mapping[str, Any], where: str, expected: ExpectedAnswer | None) -> Sequence[Breach]:
        most, message = self.answer_chars_max, choice.get("message")
        holder = message if isinstance(message, Mapping) else choice
        if most is None or chars_said(holder) <= most:
            return ()
        member = "content" if holder is message else "text"
        text = holder.get(member)
        size = len(text) if isinstance(text, str) else 0
        return (Breach(f"{where}.{member}", ANSWER_TOO_LONG, min(most, size), size, keeps=most),)

    def in_text(self, chars: int) -> Breach | None:
        most = self.answer_chars_max
        return None if most is None or chars <= most else Breach("", ANSWER_TOO_LONG, most, chars)


def chars_said(value: Any) -> int:
    """In every text of an answer but for what the API itself says."""
    stack, chars = [value], 0
    while stack:
        one = stack.pop()
        if isinstance(one, str):
            chars += len(one)
        elif isinstance(one, list):
            stack += one
        elif isinstance(one, Mapping):
            stack += [member for name, member in one.items() if name not in NOT_SAID]
    return chars


def _where_over(texts: Texts, most: int) -> str | None:
    chars = 0
    for unit in texts.units:
        chars += sum(map(len, unit.parts))
        if chars > most:
            return unit.where
    return None


def _ids_in(document: Any) -> int:
    """How many tokens of a prompt stand as numbers."""
    ids = 0
    for name in IDS:
        prompt = document.get(name) if isinstance(document, Mapping) else None
        for one in prompt if isinstance(prompt, list) else ():
            ids += len(one) if isinstance(one, list) else type(one) is int
    return ids
