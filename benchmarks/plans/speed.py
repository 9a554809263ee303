"""`make bench-plan-speed`: the processor time of whole `plan` commands, and of what they do after their imports."""

import io
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path
from time import process_time

from benchmarks.mix.run import BUCKETS, KINDS, problem
from heterodyne.cli.main import cli
from heterodyne.planning.mix.problem import MixProblem

ROUNDS = 5
HARDWARE = {
    "plan hardware, dense": "--model llama-3.1-70b --precision fp8 --slo-ttft-ms 500",
    "plan hardware, every width": "--model llama-3.1-70b --precision fp8 --every-width",
    "plan hardware, mixture": "--model deepseek-v3 --precision fp8",
}


def main() -> None:
    """Medians; the first round of each is not counted, since it writes bytecode and reads files from disk."""
    print(f"processor time, median of {ROUNDS} (whole command, and again in a process that has imported all):")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "mix.toml"
        file.write_text(_as_file(problem(0)))
        commands = {word: ["plan", "hardware", *given.split()] for word, given in HARDWARE.items()}
        commands[f"plan mix FILE, {KINDS} x {BUCKETS}"] = ["plan", "mix", str(file)]
        for word, command in commands.items():
            whole = _median(partial(_whole_s, command))
            after = _median(partial(_again_s, command))
            print(f"  {word:28} {whole:.2f} s, {after:.2f} s", flush=True)


def _as_file(question: MixProblem) -> str:
    """As an operator writes it."""
    lines: list[str] = []
    for bucket in question.buckets:
        critical = str(bucket.is_critical).lower()
        lines += ["[[buckets]]", f'name = "{bucket.name}"', f"requests_per_s = {bucket.requests_per_s}"]
        lines.append(f"is_critical = {critical}")
    for kind in question.kinds:
        rates = ", ".join(f'"{name}" = {rate}' for name, rate in kind.requests_per_s.items())
        lines += ["[[kinds]]", f'name = "{kind.name}"', f"usd_per_hour = {kind.usd_per_hour}"]
        lines += [f"available = {kind.available}"] if kind.available is not None else []
        lines.append(f"requests_per_s = {{ {rates} }}")
    return "\n".join(lines)


def _median(measure: Callable[[], float]) -> float:
    measure()
    return statistics.median(measure() for _ in range(ROUNDS))


def _whole_s(command: list[str]) -> float:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    began_s = _children_s()
    subprocess.run(
        [sys.executable, "-m", "heterodyne", *command], env=environment, stdout=subprocess.DEVNULL, check=True
    )
    return _children_s() - began_s


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _again_s(command: list[str]) -> float:
    began_s = process_time()
    with redirect_stdout(io.StringIO()):
        cli(command, standalone_mode=False)
    return process_time() - began_s


if __name__ == "__main__":
    main()
