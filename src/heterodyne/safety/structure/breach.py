"""Where a request or an answer is not made as a policy asks."""

from typing import NamedTuple


class Breach(NamedTuple):
    """One place, and the rule that is broken there."""

    where: str  # a path, such as "choices[0].message.tool_calls[1].function.arguments"
    rule: str
    start: int = 0  # in characters of the text at that path
    end: int = 0
    keeps: int | None = None  # characters of the choice's words that may still be said; None: all of them
