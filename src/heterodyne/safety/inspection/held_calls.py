"""Calls in an answer that streams: held back until their choice ends and all of each is there to be judged.

Words go on as they come. What calls take up is bounded: one that grows over its policy's bound ends the choice. Long
ones are asked to be judged elsewhere; whoever cannot have that done goes on, and they are judged here.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, final

import msgspec
from msgspec import structs

from heterodyne.domain.answer_guard import StreamGuard
from heterodyne.domain.guard_verdict import GuardVerdict
from heterodyne.safety.inspection.checks import CUT, breach_verdict, breaches_in
from heterodyne.safety.inspection.stream_stage import Edit, Json, StreamStage
from heterodyne.safety.policy import GuardRule
from heterodyne.safety.structure.breach import Breach
from heterodyne.safety.structure.expected import ExpectedAnswer
from heterodyne.safety.structure.inspector import TOO_LONG, TOO_MANY

CALLS: Final = ("tool_calls", "function_call")
HELD_CHARS_MAX: Final = 1 << 20  # of one stream, whatever its policies allow
HELD_CALLS_MAX: Final = 1024
# What is judged in the loop; more of it is asked to be judged beside it.
AT_ONCE_CHARS: Final = 2048
AT_ONCE_CALLS: Final = 8
LEGACY: Final = -1  # the place of the one call that older clients are told of

_encode = msgspec.json.Encoder().encode


@final
class HeldCalls(StreamStage):
    """Behind the words of one try."""

    def __init__(
        self,
        inner: StreamGuard,
        rules: Sequence[GuardRule],
        note: Callable[[GuardVerdict], None],
        *,
        choices: int,
        expected: ExpectedAnswer | None,
    ) -> None:
        super().__init__(inner, rules, note, choices=choices)
        self._expected = expected
        self._growing: dict[object, GrowingCalls] = {}  # by choice
        self._held_chars = 0
        self._asked = b""
        self._verdicts: Sequence[GuardVerdict] | None = None  # on what was asked; None: nobody has judged it

    def _may_pass(self, data: bytes) -> bool:
        # A backslash in a member's name would hide it.
        return not self._growing and data.find(b"_call") < 0 and data.find(b"\\u00") < 0

    @property
    def asked(self) -> bytes:
        return self._asked

    def judged(self, verdicts: Sequence[GuardVerdict]) -> None:
        self._asked, self._verdicts = b"", verdicts

    def _edit(self, choice: Json) -> Edit:
        index, delta = choice.get("index", 0), choice.get("delta")
        if isinstance(delta, dict) and any(name in delta for name in CALLS):
            growing = self._growing.setdefault(index, GrowingCalls())
            self._held_chars += growing.add(delta)
            over = self._over(growing, index)
            if over is not None:
                del self._growing[index]
                self._end(choice, *over)
                return True
            if not delta and choice.get("finish_reason") is None:
                return False
        if choice.get("finish_reason") is not None:
            ended = self._growing.pop(index, None)
            if ended is not None and choice["finish_reason"] != CUT:
                if isinstance(delta, dict) and delta:  # words that come with the end stand before the calls
                    yield self._event(index, delta)
                    choice["delta"] = {}
                if (yield from self._is_blocked(ended, index)):
                    choice["finish_reason"], choice["logprobs"] = CUT, None
                else:
                    yield self._event(index, ended.told())
        return True

    def _rest(self) -> Iterator[bytes | None]:
        for index, growing in self._growing.items():
            if (yield from self._is_blocked(growing, index)):
                yield self._event(index, {}, CUT)
            else:
                yield self._event(index, growing.told())
        self._growing.clear()

    def _over(self, growing: "GrowingCalls", index: object) -> tuple[GuardRule, Breach] | None:
        where = f"choices[{index}].tool_calls"
        for rule in self._rules:
            assert rule.inspector is not None
            calls = rule.inspector.calls
            found = None if calls is None else calls.over(growing.calls, growing.chars_longest, where)
            if found is not None:
                return rule, found
        if self._held_chars > HELD_CHARS_MAX:
            return self._rules[0], Breach(where, TOO_LONG)
        return (self._rules[0], Breach(where, TOO_MANY)) if growing.calls > HELD_CALLS_MAX else None

    def _is_blocked(self, growing: "GrowingCalls", index: object) -> Edit:
        message, verdicts = growing.message(), None
        if growing.chars > AT_ONCE_CHARS or growing.calls > AT_ONCE_CALLS:
            self._asked, self._verdicts = _encode({"choices": [{"index": 0, "message": message}]}), None
            yield None
            self._asked, verdicts = b"", self._verdicts
        if verdicts is None:
            found = breaches_in(self._rules, {"message": message}, index, self._expected, where=f"choices[{index}]")
            verdicts = [breach_verdict(rule, one, "output") for rule, one in found]
        else:
            verdicts = [structs.replace(one, where=_in_stream(one.where, index)) for one in verdicts]
        for one in verdicts:
            self._note(one)
        if verdicts:
            self._cut.add(index)
        return bool(verdicts)


def _in_stream(where: str, index: object) -> str:
    """Of the only choice of a whole answer the place in a stream."""
    return f"choices[{index}]{where.removeprefix('choices[0].message')}"


@final
class GrowingCalls:
    """Those of one choice."""

    def __init__(self) -> None:
        self._calls: dict[int, Json] = {}  # by place
        self._pieces: dict[int, dict[tuple[str, str], list[str]]] = {}  # of texts of each, which come in several
        self._chars: dict[int, int] = {}
        self.chars = self.chars_longest = 0

    @property
    def calls(self) -> int:
        return len(self._calls)

    def add(self, delta: Json) -> int:
        """Take its calls out of an event; the characters that came."""
        said, legacy = delta.pop("tool_calls", None), delta.pop("function_call", None)
        chars = 0
        for number, piece in enumerate(said if isinstance(said, list) else ()):
            if isinstance(piece, dict):
                place = piece.pop("index", number)
                chars += self._add(place if isinstance(place, int) and place >= 0 else number, piece)
        if isinstance(legacy, dict):
            chars += self._add(LEGACY, {"function": legacy})
        return chars

    def message(self) -> Json:
        """As a whole answer has them."""
        calls = [self._whole(place) for place in sorted(self._calls) if place != LEGACY]
        said: Json = {"tool_calls": calls} if calls else {}
        return said | ({"function_call": self._whole(LEGACY)["function"]} if LEGACY in self._calls else {})

    def told(self) -> Json:
        """The delta that says all of them."""
        message = self.message()
        places = [place for place in sorted(self._calls) if place != LEGACY]
        if places:
            message["tool_calls"] = [
                {"index": place, **call} for place, call in zip(places, message["tool_calls"], strict=True)
            ]
        return message

    def _add(self, place: int, piece: Json) -> int:
        call, chars = self._calls.setdefault(place, {}), 0
        for name, value in piece.items():
            inner = call.setdefault(name, {} if isinstance(value, dict) else value)
            if not isinstance(value, dict) or not isinstance(inner, dict):
                call[name] = inner if value is None else value
                continue
            for member, text in value.items():
                if isinstance(text, str):
                    self._pieces.setdefault(place, {}).setdefault((name, member), []).append(text)
                    chars += len(text)
                elif text is not None:
                    inner[member] = text
                    chars += len(str(text))
        self._chars[place] = longest = self._chars.get(place, 0) + chars
        self.chars_longest = max(self.chars_longest, longest)
        self.chars += chars
        return chars

    def _whole(self, place: int) -> Json:
        call = self._calls[place]
        made: dict[str, Any] = {name: dict(one) if isinstance(one, dict) else one for name, one in call.items()}
        for (name, member), pieces in self._pieces.get(place, {}).items():
            if isinstance(made.get(name), dict):
                made[name][member] = "".join(pieces)
        return made
