"""What a guard has said of one request or its answer; never the words themselves."""

from typing import Literal

from msgspec import Struct

Action = Literal["flag", "mask", "block"]
Direction = Literal["input", "output"]


class GuardVerdict(Struct, frozen=True, omit_defaults=True, kw_only=True, gc=False):
    """One finding, and what was done about it."""

    policy: str  # the name of the section in the settings
    guard: str
    version: str  # of the guard: another one may find other things
    rule: str  # what was found, such as "iban"
    action: Action
    direction: Direction
    where: str = ""  # the path of the text, such as "messages[1].content"
    start: int = 0  # in characters of that text; of a stream, of all that came before
    end: int = 0
    score: float = 1.0  # 0 to 1, how sure the guard is
