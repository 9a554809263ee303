"""What guards make of an answer that comes as a stream of events, as OpenAI's clients get them.

Text is held back only where something may have begun in it that a rule would mask or block, so that no character of it
is sent before it is known for what it is.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import msgspec

from heterodyne.domain.errors import EngineGarbage
from heterodyne.domain.guard_verdict import GuardVerdict
from heterodyne.safety.event_shape import EventShape, try_shape
from heterodyne.safety.event_slices import AT_ONCE, grown_by
from heterodyne.safety.inspection.checks import CUT
from heterodyne.safety.placeholders import Masker, Placeholders
from heterodyne.safety.policy import GuardRule, only_flag
from heterodyne.safety.streamed_text import StreamedText
from heterodyne.safety.texts import OPAQUE_ANYWHERE

DONE: Final = b"[DONE]"
SAID: Final = ("content", "text")
SHAPES_MAX: Final = 8  # an engine whose every event looks different is read event by event

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode


class StreamCheck:
    """Edits the events of one engine's stream. One for each try."""

    def __init__(
        self,
        rules: Sequence[GuardRule],
        placeholders: Placeholders,
        note: Callable[[GuardVerdict], None],
        *,
        choices: int = 1,
        sent: str = "",
    ) -> None:
        """`sent` are words that the client has already got from another replica."""
        self._rules = rules
        self._placeholders = placeholders
        self._note = note
        self._open = choices  # that have not been cut off
        self._sent = sent
        self._holds = not only_flag(rules)
        self._masker = Masker(placeholders.values)
        self._texts: dict[tuple[int, str], StreamedText] = {}
        self._cut: set[int] = set()
        self._envelope: dict[str, Any] = {}  # of the last event with choices
        self._shape: EventShape | None = None  # of events that only add words, and need not be read
        self._growing: StreamedText | None = None  # to which they add
        self._shapes_left = SHAPES_MAX
        self._steps: Iterator[bytes | None] | None = None  # of what is said of the last event; None: all of it is
        self.events = 0  # with choices

    def __call__(self, data: bytes) -> tuple[bytes, ...]:
        """The events that take the place of one."""
        shape, growing = self._shape, self._growing
        if shape is not None and growing is not None and (text := shape.try_text(data)) is not None:
            self.events += 1
            return self._plain(shape, growing, text)
        if self.is_over:
            return ()
        if data == DONE:
            return self._begin(self._rest())
        try:
            event = _decode(data)
        except (ValueError, RecursionError) as error:
            raise EngineGarbage("The engine sent an event that is not JSON.") from error
        choices = event.get("choices") if type(event) is dict else None
        if type(choices) is not list or not choices:
            return (data,)
        self.events += 1
        shape = try_shape(data, choices) if self._shapes_left else None
        self._envelope = event
        if any(type(choice) is dict and choice.get("finish_reason") is not None for choice in choices):
            return self._begin(self._ended(choices))
        kept = [choice for choice in choices if type(choice) is not dict or self._is_kept(choice)]
        if shape is not None and not self._cut:
            self._shape, self._shapes_left = shape, self._shapes_left - 1
            self._growing = self._text(shape.index, "content")
        return (_encode({**event, "choices": kept}),) if kept else ()

    @property
    def owes(self) -> bool:
        return self._steps is not None

    def more(self) -> tuple[bytes, ...]:
        made: list[bytes] = []
        for one in self._steps or ():
            if one is None:
                return tuple(made)
            made.append(one)
        self._steps = None
        return tuple(made)

    @property
    def asked(self) -> bytes:
        return b""

    def judged(self, verdicts: Sequence[GuardVerdict]) -> None:
        raise AssertionError("nothing was asked")

    def _begin(self, steps: Iterator[bytes | None]) -> tuple[bytes, ...]:
        """The first of several steps, between which stands None."""
        self._steps = steps
        return self.more()

    def _plain(self, shape: EventShape, growing: StreamedText, text: str) -> tuple[bytes, ...]:
        """The same of an event that only adds to the words of one choice."""
        said = growing.feed(text)
        if growing.is_cut:
            self._end(shape.index)
            end = self._event(shape.index, "content", "", finish=CUT)
            return (shape.event(said), end) if said else (end,)
        return (shape.event(said),) if said else ()

    @property
    def is_over(self) -> bool:
        """Whether every choice was cut off, and nothing more is to be said."""
        return self._open <= 0 and self._steps is None

    @property
    def id(self) -> str:
        return str(self._envelope.get("id", ""))

    @property
    def created(self) -> int:
        created = self._envelope.get("created")
        return created if type(created) is int else 0

    def _is_kept(self, choice: dict[str, Any]) -> bool:
        """Whether an event that does not end it says anything of a choice."""
        index = choice.get("index", 0)
        says = index not in self._cut and self._says(choice, index)
        if says and index in self._cut:
            choice["finish_reason"] = CUT
        return says

    def _says(self, choice: dict[str, Any], index: int) -> bool:
        delta = choice.get("delta")
        says = self._edit(index, "", delta if isinstance(delta, dict) else choice)
        if choice.get("logprobs") is not None and (self._holds or self._placeholders.values):
            choice["logprobs"] = None  # they would tell what is held back
        return says

    def _ended(self, choices: list[Any]) -> Iterator[bytes | None]:
        """An event that ends choices: what was held back goes between the words of the event and its end."""
        event, kept = self._envelope, []
        for choice in choices:
            if type(choice) is not dict or choice.get("finish_reason") is None:
                if type(choice) is not dict or self._is_kept(choice):
                    kept.append(choice)
                continue
            index = choice.get("index", 0)
            if index in self._cut:
                continue
            if self._says(choice, index) and index not in self._cut:
                yield _encode({**event, "choices": [{**choice, "finish_reason": None}]})
                name, nothing = ("delta", {}) if isinstance(choice.get("delta"), dict) else ("text", "")
                choice[name] = nothing
            yield from self._flushed(index)
            if index in self._cut:
                choice["finish_reason"] = CUT
            kept.append(choice)
        if kept:
            yield _encode({**event, "choices": kept})

    def _edit(self, index: int, path: str, holder: dict[str, Any]) -> bool:
        """Put into each text what may be sent of it now; False where nothing is left that says anything."""
        says = False
        for name, value in holder.items():
            if type(value) is str:
                if name in AT_ONCE or name in OPAQUE_ANYWHERE:
                    says = says or name != "finish_reason"
                elif value:
                    growing = self._text(index, path + name)
                    holder[name] = text = growing.feed(value)
                    says = says or text != ""
                    if growing.is_cut:
                        self._end(index)
            elif type(value) is dict:
                says |= self._edit(index, f"{path}{name}.", value)
            elif type(value) is list:
                says |= self._edit_each(index, path + name, value)
            if index in self._cut:
                _drop_behind(holder, name)
                return True
        return says

    def _edit_each(self, index: int, path: str, items: list[Any]) -> bool:
        """The same of a list, such as calls."""
        says = False
        for number, item in enumerate(items):
            if type(item) is dict:
                says |= self._edit(index, f"{path}[{item.get('index', number)}].", item)
            if index in self._cut:
                del items[number + 1 :]
                return True
        return says

    def _text(self, index: int, path: str) -> StreamedText:
        growing = self._texts.get((index, path))
        if growing is None:
            growing = self._texts[index, path] = StreamedText(
                self._rules,
                self._placeholders,
                self._masker,
                self._note,
                where=f"choices[{index}].{path}",
                sent=self._sent if index == 0 and path in SAID else "",
            )
        return growing

    def _flushed(self, index: int) -> Iterator[bytes | None]:
        """Events with what was held back of a choice; each look at some of it is a step."""
        is_first = True
        for (number, path), growing in self._texts.items():
            while number == index and index not in self._cut:
                if not is_first and not growing.is_closed:
                    yield None
                is_first = False
                text = growing.close()
                if text:
                    yield self._event(index, path, text)
                if growing.is_cut:
                    self._end(index)
                if growing.is_closed:
                    break

    def _rest(self) -> Iterator[bytes | None]:
        """The same of all choices, at the end of a stream that did not say why it ended."""
        for index in dict.fromkeys(index for index, _ in self._texts):
            if index not in self._cut:
                yield from self._flushed(index)
                if index in self._cut:
                    path = "text" if (index, "text") in self._texts else "content"
                    yield self._event(index, path, "", finish=CUT)
        yield DONE

    def _event(self, index: int, path: str, text: str, *, finish: str | None = None) -> bytes:
        choice = {"index": index, **grown_by(path, text), "finish_reason": finish}
        return _encode({**self._envelope, "choices": [choice]})

    def _end(self, index: int) -> None:
        """A rule has cut this choice off."""
        self._shape = None
        self._cut.add(index)
        self._open -= 1


def _drop_behind(holder: dict[str, Any], after: str) -> None:
    """Nothing that stands behind the member is said."""
    names = list(holder)
    for name in names[names.index(after) + 1 :]:
        del holder[name]
