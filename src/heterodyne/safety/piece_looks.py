"""How a long run of characters is looked at piece by piece, where one look at all of it would hold up others."""

from collections.abc import Callable
from typing import NamedTuple

from heterodyne.safety.finding import Finding

TextLook = Callable[[str], list[Finding]]


class PieceLooks(NamedTuple):
    """Two looks that find together what one does."""

    near: TextLook  # what is no longer than two windows
    far: TextLook  # all that may be longer; quick
    join: Callable[[list[Finding]], list[Finding]]  # of what both have found what one look would, in order
