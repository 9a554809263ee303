"""A further look at the events of a stream, behind the one that edits their words."""

from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from itertools import chain
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
Edit = Generator[bytes | None, None, bool]

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
        self._waiting: deque[bytes] = deque()  # events that stand behind the one that is being edited
        self._steps: Iterator[bytes | None] | None = None  # of that one; None between them: others are served first

    def __call__(self, data: bytes) -> tuple[bytes, ...]:
        """The events that take the place of one."""
        if self._open <= 0:
            return ()
        self._waiting += self._inner(data)
        return self._steps_on()

    @property
    def owes(self) -> bool:
        return self._steps is not None or bool(self._waiting) or self._inner.owes

    def more(self) -> tuple[bytes, ...]:
        if self._steps is None and not self._waiting:
            self._waiting += self._inner.more()
        return self._steps_on()

    @property
    def asked(self) -> bytes:
        return b""

    def judged(self, verdicts: Sequence[GuardVerdict]) -> None:
        raise AssertionError("nothing was asked")

    @property
    def is_over(self) -> bool:
        return self._steps is None and not self._waiting and (self._open <= 0 or self._inner.is_over)

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

    def _edit(self, choice: Json) -> Edit:
        """What has to be said before it; then whether the event says anything of the choice now."""
        raise NotImplementedError

    def _rest(self) -> Iterator[bytes | None]:
        """What is left to be said when a stream ends that did not say why its choices did."""
        yield from ()

    def _steps_on(self) -> tuple[bytes, ...]:
        made: list[bytes] = []
        while True:
            for step in self._steps or ():
                if step is None:
                    return tuple(made)
                made.append(step)
            self._steps = None
            if not self._waiting:
                return tuple(made)
            one = self._waiting.popleft()
            if one == DONE:
                self._steps = chain(self._rest(), (DONE,))
            elif self._may_pass(one):
                made.append(one)
            else:
                self._steps = self._edited(one)

    def _edited(self, data: bytes) -> Iterator[bytes | None]:
        try:
            event = _decode(data)
        except (ValueError, RecursionError) as error:
            raise EngineGarbage("The engine sent an event that is not JSON.") from error
        choices = event.get("choices") if isinstance(event, dict) else None
        if not isinstance(choices, list) or not choices:
            yield data
            return
        self._envelope = event
        self._see(data, choices)
        kept = []
        for choice in choices:
            if isinstance(choice, dict) and (
                choice.get("index", 0) in self._cut or not (yield from self._edit(choice))
            ):
                continue
            kept.append(choice)
        if kept:
            yield _encode({**event, "choices": kept})

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
