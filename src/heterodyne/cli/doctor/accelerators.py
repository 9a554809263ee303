"""Which accelerators this machine shows: NVIDIA, AMD, TPU, Apple, and always the CPU."""

import os
import platform
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from heterodyne.cli.doctor.finding import DoctorFinding, FindingState
from heterodyne.cli.output import bytes_in_words

TOPIC = "accelerators"
PROBE_TIMEOUT_S = 10.0
CPU_FEATURES = ("avx2", "avx512f", "avx512_bf16", "amx_bf16", "asimd", "sve")  # what llama.cpp makes use of
MEMORY_LITTLE_BYTES = 2 * 10**9


def accelerators() -> Iterator[DoctorFinding]:
    """One finding per accelerator, then the processor and its memory."""
    found = [*_nvidia(), *_amd(), *_tpu(), *_apple()]
    yield from found
    if not found:
        yield DoctorFinding(topic=TOPIC, name="gpu", state=FindingState.NOTE, value="none seen; models run on the CPU")
    yield _cpu()
    yield _memory()


def _nvidia() -> Iterator[DoctorFinding]:
    output = _run("nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader")
    yield from _from_tool("nvidia", "nvidia-smi", output)


def _amd() -> Iterator[DoctorFinding]:
    output = _run("rocm-smi", "--showproductname", "--csv")
    if output is not None:
        output = "\n".join(output.splitlines()[1:])  # the first line is the header
    yield from _from_tool("amd", "rocm-smi", output)


def _from_tool(name: str, tool: str, output: str | None) -> Iterator[DoctorFinding]:
    """A tool that is absent proves nothing; one that fails shows that the driver is broken."""
    if output is None:
        return
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    for line in lines:
        yield DoctorFinding(topic=TOPIC, name=name, state=FindingState.GOOD, value=line)
    if not lines:
        yield DoctorFinding(
            topic=TOPIC,
            name=name,
            state=FindingState.WARNING,
            value=f"{tool} is here and shows no device",
            advice=f"run {tool} by hand; the driver may not be loaded",
        )


def _tpu() -> Iterator[DoctorFinding]:
    devices = sorted(Path("/dev").glob("accel*"))
    if devices:
        value = ", ".join(str(device) for device in devices)
        yield DoctorFinding(topic=TOPIC, name="tpu", state=FindingState.GOOD, value=value)


def _apple() -> Iterator[DoctorFinding]:
    if platform.system() == "Darwin" and platform.machine() == "arm64":
        yield DoctorFinding(topic=TOPIC, name="apple", state=FindingState.GOOD, value="Apple silicon, through Metal")


def _cpu() -> DoctorFinding:
    cores = os.cpu_count() or 1
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else cores
    features = _cpu_features()
    value = f"{usable} of {cores} cores" + (f", {' '.join(features)}" if features else "")
    return DoctorFinding(topic=TOPIC, name="cpu", state=FindingState.GOOD, value=value)


def _cpu_features() -> list[str]:
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return []
    flags = next(
        (line.split(":", 1)[1].split() for line in text.splitlines() if line.startswith(("flags", "Features"))),
        [],
    )
    return [feature for feature in CPU_FEATURES if feature in flags]


def _memory() -> DoctorFinding:
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    value = bytes_in_words(total)
    if total >= MEMORY_LITTLE_BYTES:
        return DoctorFinding(topic=TOPIC, name="memory", state=FindingState.GOOD, value=value)
    return DoctorFinding(
        topic=TOPIC,
        name="memory",
        state=FindingState.WARNING,
        value=value,
        advice="only small models fit; lower slots and context_tokens of the pools",
    )


def _run(*command: str) -> str | None:
    """What a tool prints; None when it is not installed, nothing when it fails."""
    tool = shutil.which(command[0])
    if tool is None:
        return None
    try:
        done = subprocess.run(  # noqa: S603 - a fixed command line, no shell
            (tool, *command[1:]), capture_output=True, text=True, timeout=PROBE_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""
