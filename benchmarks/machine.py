"""What the numbers were taken on, without names or paths."""

import os
import platform
import re
from pathlib import Path


def describe() -> str:
    """Cores, processor, system and Python, in one line."""
    return f"{os.cpu_count()} cores ({_processor()}), {platform.system()}, Python {platform.python_version()}"


def _processor() -> str:
    table = Path("/proc/cpuinfo")
    found = re.search(r"^model name\s*: (.+)$", table.read_text(), re.MULTILINE) if table.exists() else None
    return found.group(1) if found else platform.machine()
