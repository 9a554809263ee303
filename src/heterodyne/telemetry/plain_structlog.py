"""structlog without rich, which it would load for tracebacks in colour: a tenth of what a process takes to start.

Tracebacks are made before its renderers see them (`log.py`). Whoever wants rich for tables loads it afterwards.
"""

import sys

_IS_RICH_LOADED = "rich" in sys.modules

if not _IS_RICH_LOADED:
    sys.modules["rich"] = None  # type: ignore[assignment]  # in Python's words: it cannot be imported
try:
    import structlog
finally:
    if not _IS_RICH_LOADED:
        del sys.modules["rich"]

__all__ = ["structlog"]
