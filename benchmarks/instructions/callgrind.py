"""Counts the instructions that running processes execute between two moments, by valgrind's callgrind."""

import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

CONTROL_S_MAX = 60
NAME = re.compile(r"\((\d+)\)(?: (.*))?")  # the first mention of an id brings the name


class Dump(Struct, frozen=True, kw_only=True):
    """What one process executed between two dumps: instructions by object file and function, their callees aside."""

    by_function: dict[tuple[str, str], int]

    @property
    def instructions(self) -> int:
        return sum(self.by_function.values())


def missing() -> str | None:
    """Why nothing can be counted here; None when it can."""
    lacking = [tool for tool in ("valgrind", "callgrind_control") if shutil.which(tool) is None]
    return f"{lacking[0]} is not installed" if lacking else None


def counted(command: Iterable[str], folder: Path) -> tuple[str, ...]:
    """The command under valgrind, with dumps in this folder; nothing is counted before `begin`."""
    return (
        *("valgrind", "--tool=callgrind", "--instr-atstart=no", "--quiet"),
        *(f"--callgrind-out-file={folder}/dump.%p", *command),
    )


def begin(pid: int) -> None:
    """Count from here."""
    _control("--instr=on", pid)
    _control("--zero", pid)


def end(pid: int) -> None:
    """Count no more: the process is faster."""
    _control("--instr=off", pid)


def take(pid: int, folder: Path) -> Dump:
    """What was executed since the last dump."""
    before = set(folder.glob(f"dump.{pid}.*"))
    _control("--dump", pid)
    (made,) = set(folder.glob(f"dump.{pid}.*")) - before
    return read_dump(made.read_text(encoding="utf-8", errors="replace").splitlines())


def read_dump(lines: Iterable[str]) -> Dump:
    """A profile in callgrind's format; the costs of calls stand on lines of their own, which are left out."""
    names: dict[tuple[str, str], str] = {}

    def name_of(kind: str, word: str) -> str:
        found = NAME.fullmatch(word)
        if found is None:
            return word
        number, name = found.groups()
        return names.setdefault((kind, number), name or "")

    by_function: Counter[tuple[str, str]] = Counter()
    library = function = ""
    is_of_call = False
    for line in lines:
        if not line or line[0] == "#":
            continue
        if line[0].isdigit() or line[0] in "+-*":
            if not is_of_call:
                by_function[library, function] += int(line.split()[-1])
            is_of_call = False
            continue
        key, separator, value = line.partition("=")
        if not separator:
            continue
        match key:
            case "ob":
                library = name_of("ob", value)
            case "fn":
                function = name_of("fn", value)
            case "cob":
                name_of("ob", value)
            case "cfn":
                name_of("fn", value)
            case "calls":
                is_of_call = True
    return Dump(by_function=dict(by_function))


def _control(word: str, pid: int) -> None:
    done = subprocess.run(
        ["callgrind_control", word, str(pid)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=CONTROL_S_MAX,
    )
    if done.returncode or "Error" in done.stdout:
        raise RuntimeError(f"callgrind_control {word} {pid}: {(done.stdout + done.stderr).strip()}")
