"""What a guard of structure is, for whoever holds a request or an answer."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

from heterodyne.domain.guard_verdict import Direction
from heterodyne.safety.structure.breach import Breach
from heterodyne.safety.structure.expected import ExpectedAnswer
from heterodyne.safety.texts import Texts

TOO_LONG: Final = "arguments_too_long"  # what can be told of calls that are still growing
TOO_MANY: Final = "too_many_calls"


class Inspector(Protocol):
    """One for a policy."""

    @property
    def reads_requests(self) -> bool:
        """Whether what an answer may be stands in its request."""
        ...

    def looks_at(self, direction: Direction) -> bool:
        """Whether there is anything for it to find on this way."""
        ...

    @property
    def calls(self) -> "CallInspector | None":
        """What is held back of a stream for it, call by call; None: no calls are."""
        ...

    @property
    def answer_chars_max(self) -> int | None:
        """Where it ends a stream; None: nowhere."""
        ...

    def needs_whole(self, expected: ExpectedAnswer | None) -> bool:
        """Whether nothing of an answer can be judged before all of it is there."""
        ...

    def in_request(self, texts: Texts) -> Sequence[Breach]:
        """What is wrong with a request."""
        ...

    def in_choice(self, choice: Mapping[str, Any], where: str, expected: ExpectedAnswer | None) -> Sequence[Breach]:
        """What is wrong with one choice of an answer; without `expected` nobody knows what was asked."""
        ...

    def in_text(self, chars: int) -> Breach | None:
        """What is wrong with an answer of so many characters that has no choices."""
        ...


class CallInspector(Protocol):
    """The part of one that looks at calls."""

    def over(self, calls: int, argument_chars: int, where: str) -> Breach | None:
        """What is wrong already with calls that are still growing; `argument_chars` are those of the longest."""
        ...
