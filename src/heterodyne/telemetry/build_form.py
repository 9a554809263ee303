"""Whether the hot files of this installation are compiled."""

from importlib.util import find_spec
from typing import Literal

HOT_MODULE = "heterodyne.wire.chunks"  # all are compiled, or none

BuildForm = Literal["compiled", "python"]


def build_form() -> BuildForm:
    """Looks at the file alone: nothing is imported for it."""
    spec = find_spec(HOT_MODULE)
    assert spec is not None
    return "python" if (spec.origin or "").endswith(".py") else "compiled"
