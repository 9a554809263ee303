"""CPU time and memory of a process and all its descendants, from /proc or, where there is none, from `ps`."""

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

PROC = Path("/proc")


class Process(Struct, frozen=True, kw_only=True):
    """One row of the process table."""

    pid: int
    parent: int
    cpu_s: float
    kernel_s: float | None  # of it; None: the system does not say
    rss_bytes: int


class TreeUsage(Struct, frozen=True, kw_only=True):
    """A process and its descendants together."""

    cpu_s: float
    kernel_s: float | None
    rss_bytes: int


def tree(pid: int) -> tuple[Process, ...]:
    """It and its descendants."""
    processes = list(_from_proc() if (PROC / "self" / "stat").exists() else _from_ps())
    members = {pid}
    while grown := {row.pid for row in processes if row.parent in members} - members:
        members |= grown
    return tuple(row for row in processes if row.pid in members)


def tree_running(pid: int, module: str) -> tuple[Process, ...]:
    """Those of them that run this Python module, where there is a /proc."""
    wanted = module.encode()
    return tuple(one for one in tree(pid) if wanted in (PROC / str(one.pid) / "cmdline").read_bytes())


def tree_usage(pid: int) -> TreeUsage:
    """Since each process began; descendants that have ended are not seen."""
    rows = tree(pid)
    kernel_s = [row.kernel_s for row in rows if row.kernel_s is not None]
    return TreeUsage(
        cpu_s=sum(row.cpu_s for row in rows),
        kernel_s=sum(kernel_s) if len(kernel_s) == len(rows) else None,
        rss_bytes=sum(row.rss_bytes for row in rows),
    )


def _from_proc() -> Iterable[Process]:
    ticks_per_s, page_bytes = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
    for folder in PROC.iterdir():
        if not folder.name.isdecimal():
            continue
        try:
            # The command, in parentheses, may hold spaces; the fields that follow it may not.
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue  # it ended while we were reading
        yield Process(
            pid=int(folder.name),
            parent=int(fields[1]),
            cpu_s=(int(fields[11]) + int(fields[12])) / ticks_per_s,
            kernel_s=int(fields[12]) / ticks_per_s,
            rss_bytes=int(fields[21]) * page_bytes,
        )


def _from_ps() -> Iterable[Process]:
    command = ["ps", "-A", "-o", "pid=,ppid=,time=,rss="]
    for line in subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines():
        pid, parent, time, rss_kib = line.split()
        yield Process(
            pid=int(pid), parent=int(parent), cpu_s=_seconds(time), kernel_s=None, rss_bytes=int(rss_kib) * 1024
        )


def _seconds(time: str) -> float:
    """`[[days-]hours:]minutes:seconds[.hundredths]`."""
    days, _, clock = time.rpartition("-")
    seconds = 86_400.0 * int(days or 0)
    for weight, part in zip((1, 60, 3600), reversed(clock.split(":")), strict=False):
        seconds += weight * float(part)
    return seconds
