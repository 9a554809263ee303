"""An answer that streams ends where it has as many characters as a policy allows."""

from collections.abc import Callable, Sequence
from typing import Any, Final, final

from heterodyne.domain.answer_guard import StreamGuard
from heterodyne.domain.guard_verdict import GuardVerdict
from heterodyne.safety.event_shape import EventShape, try_shape
from heterodyne.safety.inspection.stream_stage import Edit, Json, StreamStage
from heterodyne.safety.policy import GuardRule
from heterodyne.safety.structure.breach import Breach
from heterodyne.safety.structure.length import ANSWER_TOO_LONG, NOT_SAID

SHAPES_MAX: Final = 8  # an engine whose every event looks different is read event by event


@final
class StreamLimit(StreamStage):
    """Behind the words of one try."""

    def __init__(
        self,
        inner: StreamGuard,
        rules: Sequence[GuardRule],
        note: Callable[[GuardVerdict], None],
        *,
        choices: int,
        sent: str,
    ) -> None:
        """`sent` are words that the client has already got from another replica."""
        super().__init__(inner, rules, note, choices=choices)
        self._rule, self._chars_max = min(((rule, _chars_max(rule)) for rule in rules), key=lambda one: one[1])
        self._left: dict[object, int] = {0: self._chars_max - len(sent)}
        self._shape: EventShape | None = None  # of events that only add words, and need not be read
        self._shapes_left = SHAPES_MAX

    def _may_pass(self, data: bytes) -> bool:
        shape = self._shape
        text = None if shape is None else shape.try_text(data)
        if shape is None or text is None or shape.index in self._cut:
            return False
        left = self._left.get(shape.index, self._chars_max) - len(text)
        if left >= 0:
            self._left[shape.index] = left
        return left >= 0

    def _see(self, data: bytes, choices: list[Any]) -> None:
        shape = try_shape(data, choices) if self._shapes_left else None
        if shape is not None:
            self._shape, self._shapes_left = shape, self._shapes_left - 1

    def _edit(self, choice: Json) -> Edit:
        index, delta = choice.get("index", 0), choice.get("delta")
        trim = _Trim(self._left.get(index, self._chars_max))
        trim.of(delta if isinstance(delta, dict) else choice, "")
        self._left[index] = trim.left
        if trim.over_at is not None:
            most = self._chars_max
            self._end(choice, self._rule, Breach(f"choices[{index}].{trim.over_at}", ANSWER_TOO_LONG, most, most))
        yield from ()  # nothing has to be said before it
        return True


def _chars_max(rule: GuardRule) -> int:
    assert rule.inspector is not None
    most = rule.inspector.answer_chars_max
    assert most is not None
    return most


@final
class _Trim:
    """Leaves out of an event what is too much, and all that stands behind it."""

    def __init__(self, left: int) -> None:
        self.left = left  # characters that may still be said
        self.over_at: str | None = None  # the path of the text that has more

    def of(self, holder: Json, path: str) -> None:
        for name in [name for name in holder if name not in NOT_SAID]:
            value, at = holder[name], f"{path}{name}"
            if self.over_at is not None:
                del holder[name]
            elif isinstance(value, str):
                if len(value) > self.left:
                    holder[name], self.over_at = value[: max(self.left, 0)], at
                self.left -= len(value)
            elif isinstance(value, dict):
                self.of(value, f"{at}.")
            elif isinstance(value, list):
                self._of_each(value, at)

    def _of_each(self, items: list[Any], path: str) -> None:
        for number, item in enumerate(items):
            if self.over_at is not None:
                del items[number:]
                return
            if isinstance(item, dict):
                self.of(item, f"{path}[{item.get('index', number)}].")
