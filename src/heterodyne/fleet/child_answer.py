"""How a child process answers its parent: one line on what was its standard output."""

import os
from typing import NoReturn

import msgspec

from heterodyne.fleet.child_order import ChildFailed


def claim_stdout() -> int:
    """Keep standard output for our answer alone; what libraries print there goes to standard error."""
    answer = os.dup(1)
    os.dup2(2, 1)
    return answer


def fail(answer: int, message: str) -> NoReturn:
    """Say why, and leave."""
    os.write(answer, msgspec.json.encode(ChildFailed(error=message)) + b"\n")
    os._exit(1)
