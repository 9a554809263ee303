"""Every text of a JSON document, where it stands, and whose words it is. No member is left out because of its name.

What is not looked at: pictures, sounds and files as base64, and the few members that say what something is.
"""

from collections.abc import Iterator
from typing import Any, Final, final

SAID_BY_API: Final = frozenset({"role", "type", "object", "model", "finish_reason", "encoding_format"})
# Members of these are bytes in base64, and no text of them is shown to a model.
OPAQUE: Final = frozenset({("image_url", "url"), ("input_audio", "data"), ("file", "file_data"), ("audio", "data")})
OPAQUE_NAMES: Final = frozenset(name for _, name in OPAQUE)
OPAQUE_ANYWHERE: Final = frozenset({"b64_json", "embedding", "logprobs"})  # the last say the same words again
IDS: Final = frozenset({"prompt", "input", "prompt_token_ids"})  # where a prompt may stand as numbers
JSON_TEXT: Final = frozenset({"arguments"})  # members whose text is JSON itself
NAME_CHARS_MAX: Final = 40
UNREAD: Final = SAID_BY_API | OPAQUE_ANYWHERE
USUAL: Final = frozenset({"messages", "model", "role", "content", "type", "text", "stream", "max_tokens"})  # names
TEXTUAL: Final = (str, dict, list)
OWN_MEMBERS: Final = frozenset({"id", "created", "system_fingerprint", "service_tier", "usage"})  # of an answer
NOTHING_SKIPPED: Final[frozenset[str]] = frozenset()


@final
class TextUnit:
    """One text: a string, or the strings that are read as one."""

    __slots__ = ("is_json", "parts", "places", "role", "where")

    def __init__(self, where: str, role: str, places: "list[tuple[Any, Any]]", parts: list[str]) -> None:
        self.where = where
        self.role = role  # of the message it stands in; empty: of none
        self.places = places  # holder and key of each string
        self.parts = parts
        self.is_json = where.rpartition(".")[2] in JSON_TEXT

    @property
    def text(self) -> str:
        return self.parts[0] if len(self.parts) == 1 else "".join(self.parts)

    def put(self, edits: list[tuple[int, int, str]]) -> None:
        """Other words for spans of the text, in order; what spans several strings stands in the first of them."""
        at = 0
        for number, part in enumerate(self.parts):
            end, made, done = at + len(part), [], at
            for start, stop, word in edits:
                if stop <= at or start >= end:
                    continue
                made.append(part[max(done, at) - at : max(start, at) - at])
                if start >= at:
                    made.append(word)
                done = min(stop, end)
            if made:
                made.append(part[done - at :])
                self.parts[number] = changed = "".join(made)
                holder, key = self.places[number]
                if key is NAME:
                    _rename(holder, part, changed)
                else:
                    holder[key] = changed
            at = end


NAME: Final = object()  # in the place of a key: the text is a member's name


class Texts:
    """What was found in one document."""

    def __init__(self, document: Any, *, skipped: frozenset[str] = NOTHING_SKIPPED) -> None:
        """`skipped` are members of the document itself, such as its id."""
        self.root = [document]
        self._skipped = skipped
        self._has_ids = False
        self._units: list[TextUnit] | None = None  # None: nobody has asked for them yet

    @property
    def units(self) -> list[TextUnit]:
        """As they are in the document before it is changed."""
        if self._units is None:
            self._units = list(self._walk(self._skipped))
        return self._units

    @property
    def has_ids(self) -> bool:
        """Whether a prompt stands as numbers, which nobody here can read."""
        if self._units is None:
            self._units = list(self._walk(self._skipped))
        return self._has_ids

    @property
    def document(self) -> Any:
        """As it is after all changes."""
        return self.root[0]

    def _walk(self, skipped: frozenset[str]) -> Iterator[TextUnit]:
        """In the order of the document. A stack and not recursion: clients choose how deep it goes."""
        stack: list[tuple[str, str, Any, Any]] = [("", "", self.root, 0)]
        while stack:
            where, role, holder, key = stack.pop()
            value = holder[key]
            if type(value) is str:
                if value:
                    yield TextUnit(where, role, [(holder, key)], [value])
            elif type(value) is dict:
                for name in [name for name in value if name not in USUAL and not _is_plain_name(name)]:
                    yield TextUnit(f"{where} (name)", role, [(value, NAME)], [name])
                stack += _members(where, role, value, key, skipped if holder is self.root else NOTHING_SKIPPED)
            elif type(value) is list:
                if value and key in IDS and _is_ids(value):
                    self._has_ids = True
                    continue
                # Parts of a message that are texts are read as one: what is cut in two is still there.
                parts = [item for item in value if type(item) is dict and "text" in item and _is_text_part(item)]
                if parts:
                    yield TextUnit(where, role, [(part, "text") for part in parts], [part["text"] for part in parts])
                for number in range(len(value) - 1, -1, -1):
                    item = value[number]
                    if type(item) in TEXTUAL and not (parts and _is_text_part(item)):
                        stack.append((f"{where}[{number}]", role, value, number))


def _members(
    where: str, role: str, value: dict[str, Any], parent: Any, skipped: frozenset[str]
) -> list[tuple[str, str, Any, Any]]:
    """Those that may have texts, the first of them last."""
    said = value.get("role")
    role = said if type(said) is str else role
    dot = f"{where}." if where else ""
    return [
        (dot + name, role, value, name)
        for name in reversed(value)
        if type(value[name]) in TEXTUAL and name not in UNREAD and name not in skipped
        if name not in OPAQUE_NAMES or (parent, name) not in OPAQUE
    ]


def _is_plain_name(name: str) -> bool:
    """Whether nobody could say anything with it."""
    return len(name) <= NAME_CHARS_MAX and name.replace("_", "").isalpha() and name.isascii()


def _is_text_part(item: Any) -> bool:
    return type(item) is dict and type(item.get("text")) is str and str(item.get("type", "")).endswith("text")


def _is_ids(value: list[Any]) -> bool:
    first = value[0]
    return type(first) is int or (type(first) is list and bool(first) and type(first[0]) is int)


def _rename(holder: dict[str, Any], name: str, changed: str) -> None:
    renamed = {changed if key == name else key: value for key, value in holder.items()}
    holder.clear()
    holder.update(renamed)
