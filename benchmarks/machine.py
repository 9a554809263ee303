"""What the numbers were taken on, without names or paths."""

import os
import platform
import re
from pathlib import Path

from heterodyne.telemetry.build_form import BuildForm

FORMS: dict[BuildForm, str] = {"compiled": "compiled (`make compile`)", "python": "not compiled"}


def describe() -> str:
    """Cores, processor, system and Python, in one line."""
    scheduled = ", at real-time priority" if _has_real_time_priority() else ""
    return (
        f"{os.cpu_count()} cores ({_processor()}), {platform.system()}, Python {platform.python_version()}{scheduled}"
    )


def _processor() -> str:
    table = Path("/proc/cpuinfo")
    found = re.search(r"^model name\s*: (.+)$", table.read_text(), re.MULTILINE) if table.exists() else None
    return found.group(1) if found else platform.machine()


def _has_real_time_priority() -> bool:
    """By `chrt`, on a machine that others use too."""
    return hasattr(os, "sched_getscheduler") and os.sched_getscheduler(0) in (os.SCHED_FIFO, os.SCHED_RR)


def idle_cores_s() -> float | None:
    """Seconds that all cores together have had nothing to do, since the machine began; None: it does not say."""
    fields = _ticks()
    return (fields[3] + fields[4]) / os.sysconf("SC_CLK_TCK") if fields else None


def stolen_cores_s() -> float:
    """Seconds that others on the same hardware had of all cores together, since the machine began, as far as known."""
    fields = _ticks()
    return fields[7] / os.sysconf("SC_CLK_TCK") if fields else 0.0


def _ticks() -> list[int]:
    """What all cores together have spent their time on; empty where the machine does not say."""
    table = Path("/proc/stat")
    return [int(field) for field in table.read_text().partition("\n")[0].split()[1:]] if table.exists() else []
