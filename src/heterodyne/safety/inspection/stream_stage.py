"""A further look at the events of a stream, behind the one that edits their words."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec

from heterodyne.domain.answer_guard import StreamGuard
from heterodyne.domain.errors import EngineGarbage
from heterodyne.domain.guard_verdict import GuardVerdict
from heterodyne.safety.inspection.checks import CUT, breach_verdict
from heterodyne.safety.policy import GuardRule
from heterodyne.safety.structure.breach import Breach

DONE: Final = b"[DONE]"
Json = dict[str, Any]

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode


class StreamStage:
    """What stages have in common. One for each try."""

    def __init__(
        self,
        inner: StreamGuard,
        rules: Sequence[GuardRule],
        note: Callable[[GuardVerdict], None],
        *,
        choices: int,
    ) -> None:
        self._inner = inner
        self._rules = rules
        self._note = note
        self._open = choices  # that this has not cut off before their end
        self._cut: set[object] = set()
        self._envelope: Json = {}  # of the last event with choices

    def __call__(self, data: bytes) -> tuple[bytes, ...]:
        """The events that take the place of one."""
        if self._open <= 0:
            return ()
        made: list[bytes] = []
        for one in self._inner(data):
            if one == DONE:
                made += self._rest()
                made.append(one)
            elif self._may_pass(one):
                made.append(one)
            else:
                made += self._edited(one)
        return tuple(made)

    @property
    def is_over(self) -> bool:
        return self._open <= 0 or self._inner.is_over

    @property
    def events(self) -> int:
        return self._inner.events

    @property
    def id(self) -> str:
        return self._inner.id

    @property
    def created(self) -> int:
        return self._inner.created

    def _may_pass(self, data: bytes) -> bool:
        """Whether there is nothing in the event to look for."""
        return False

    def _see(self, data: bytes, choices: list[Any]) -> None:
        """An event that was read."""

    def _edit(self, choice: Json, before: list[bytes]) -> bool:
        """Whether the event says anything of the choice now; what has to be said before it is added to `before`."""
        raise NotImplementedError

    def _rest(self) -> list[bytes]:
        """What is left to be said when a stream ends that did not say why its choices did."""
        return []

    def _edited(self, data: bytes) -> list[bytes]:
        try:
            event = _decode(data)
        except (ValueError, RecursionError) as error:
            raise EngineGarbage("The engine sent an event that is not JSON.") from error
        choices = event.get("choices") if isinstance(event, dict) else None
        if not isinstance(choices, list) or not choices:
            return [data]
        self._envelope = event
        self._see(data, choices)
        before: list[bytes] = []
        kept = [
            choice
            for choice in choices
            if not isinstance(choice, dict) or (choice.get("index", 0) not in self._cut and self._edit(choice, before))
        ]
        return [*before, _encode({**event, "choices": kept})] if kept else before

    def _event(self, index: object, delta: Json, finish: str | None = None) -> bytes:
        choice = {"index": index, "delta": delta, "finish_reason": finish}
        return _encode({**self._envelope, "choices": [choice]})

    def _end(self, choice: Json, rule: GuardRule, breach: Breach) -> None:
        """Nothing more is said of a choice, whose engine has not ended it."""
        self._note(breach_verdict(rule, breach, "output"))
        self._cut.add(choice.get("index", 0))
        self._open -= 1
        choice["finish_reason"] = CUT
        choice["logprobs"] = None  # they would tell the words that are left out
