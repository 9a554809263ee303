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


def idle_cores_s() -> float | None:
    """Seconds that all cores together have had nothing to do, since the machine began; None: it does not say."""
    table = Path("/proc/stat")
    if not table.exists():
        return None
    fields = table.read_text().partition("\n")[0].split()
    return (int(fields[4]) + int(fields[5])) / os.sysconf("SC_CLK_TCK")
