"""One engine process, ready to be started: its words, its environment and the files it reads."""

import shlex

from msgspec import Struct

ENGINE_PORT = 8000


class Flag(Struct, frozen=True, kw_only=True):
    """Words of a command line that belong together, and why they are there."""

    words: tuple[str, ...]
    because: str = ""


class Variable(Struct, frozen=True, kw_only=True):
    """An environment variable, and why it is set."""

    name: str
    value: str
    because: str = ""


class Site(Struct, frozen=True, kw_only=True):
    """What differs between a process on this host and one in a pod."""

    address: str = "127.0.0.1"
    files_folder: str = "."
    is_pod: bool = False


POD = Site(address="0.0.0.0", files_folder="/etc/heterodyne", is_pod=True)  # noqa: S104 - all a pod has is its own


class LaunchPlan(Struct, frozen=True, kw_only=True):
    """How to start one replica."""

    program: tuple[str, ...]
    flags: tuple[Flag, ...]
    environment: tuple[Variable, ...] = ()
    files: dict[str, str] = {}  # name: text, in the site's folder
    image: str | None  # None: no container runs on such a host
    port: int = ENGINE_PORT
    health_path: str = "/health"
    metrics_path: str = "/metrics"
    served_name: str  # the name the engine knows the model by
    documentation: str  # where its flags were read
    notes: tuple[str, ...] = ()

    @property
    def argv(self) -> tuple[str, ...]:
        """Every word of the command."""
        return (*self.program, *(word for flag in self.flags for word in flag.words))


def script(plan: LaunchPlan, notes: tuple[str, ...] = ()) -> str:
    """A bash script that starts the replica, the reasons beside the words."""
    lines = ["#!/usr/bin/env bash", *(f"# {note}" for note in (plan.documentation, *notes, *plan.notes))]
    lines += ["set -euo pipefail", 'cd "$(dirname "${BASH_SOURCE[0]}")"']
    lines += [_commented(f"export {one.name}={shlex.quote(one.value)}", one.because) for one in plan.environment]
    lines += ["command=(", f"  {shlex.join(plan.program)}"]
    lines += [_commented(f"  {shlex.join(flag.words)}", flag.because) for flag in plan.flags]
    return "\n".join([*lines, ")", 'exec "${command[@]}"', ""])


def _commented(line: str, because: str) -> str:
    return f"{line}  # {because}" if because else line
