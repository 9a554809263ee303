"""What this machine has left for replicas, and what those that run take of it."""

from pathlib import Path

PROC = Path("/proc")
GIB = 1 << 30
KIB = 1 << 10


def available_bytes() -> int | None:
    """What a new process may take before others suffer; None: this system does not say."""
    try:
        lines = (PROC / "meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    found = [line for line in lines if line.startswith("MemAvailable:")]
    return int(found[0].split()[1]) * KIB if found else None


def taken_bytes(pid: int) -> int:
    """Of a process and all that it has started, what would be free without them; 0: it is gone."""
    return _own_bytes(pid) + sum(map(taken_bytes, _children(pid)))


def _own_bytes(pid: int) -> int:
    """Files that are mapped, such as weights, can be let go and are not counted."""
    try:
        lines = (PROC / str(pid) / "status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * KIB for line in lines if line.startswith(("RssAnon:", "RssShmem:")))


def _children(pid: int) -> list[int]:
    try:
        return [int(one) for one in (PROC / str(pid) / "task" / str(pid) / "children").read_text().split()]
    except OSError:
        return []
