"""The NVIDIA GPU of this machine, as its driver names it and as the catalogue of accelerators does."""

import re
import shutil
import subprocess

from msgspec import Struct

from heterodyne.domain.errors import WeightsUnavailable
from heterodyne.physics.hardware import Accelerator

TOOL = "nvidia-smi"
ANSWER_S = 30.0
# By accelerator of the catalogue, what the driver's names of it match.
NAMES = {
    "h100-sxm": r"H100 80GB HBM3",
    "h100-pcie": r"H100 PCIe",
    "h200-sxm": r"\bH200",
    "gh200": r"GH200",
    "b200": r"\bB200",
    "gb200": r"GB200",
    "b300": r"\bB300",
    "gb300": r"GB300",
    "a100-80gb": r"A100-SXM.*80GB",
    "a100-pcie": r"A100.80GB.PCIe",
    "a100-40gb": r"A100.*40GB",
    "l40s": r"L40S",
    "l4": r"\bL4$",
    "rtx-pro-6000": r"RTX PRO 6000",
}


class NvidiaGpu(Struct, frozen=True, kw_only=True):
    """The first of the machine."""

    name: str
    driver: str

    def is_of(self, accelerator: Accelerator) -> bool:
        """Whether it is one of these."""
        pattern = NAMES.get(accelerator.name)
        return pattern is not None and re.search(pattern, self.name) is not None


def gpu_here() -> NvidiaGpu:
    """Raises where the driver names none."""
    tool = shutil.which(TOOL)
    if tool is None:
        raise WeightsUnavailable(f"{TOOL} is not on PATH: no NVIDIA GPU is here; build on a machine that has the GPU")
    command = [tool, "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        said = subprocess.run(command, check=True, capture_output=True, text=True, timeout=ANSWER_S)  # noqa: S603
    except (OSError, subprocess.SubprocessError) as error:
        raise WeightsUnavailable(f"{TOOL} names no GPU: {error}") from error
    name, _, driver = said.stdout.partition("\n")[0].rpartition(",")
    if not name:
        raise WeightsUnavailable(f"{TOOL} names no GPU")
    return NvidiaGpu(name=name.strip(), driver=driver.strip())
