"""A guard elsewhere has given no verdict."""

from typing import NamedTuple


class LookFailed(NamedTuple):
    """Why there is none; never words of a client."""

    reason: str
