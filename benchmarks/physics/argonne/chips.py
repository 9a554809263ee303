"""The hardware of the Argonne rows under our names; chips that no engine of ours runs on are described here alone."""

from msgspec import Struct

from heterodyne.physics.catalogue import accelerator
from heterodyne.physics.hardware import Accelerator, Link
from heterodyne.physics.precision import Precision

# Hot Chips 2024: 638 BF16 TFLOPS and 64 GB a socket, 25.6 TB/s of HBM in sixteen. The link is a guess: every row has
# eight sockets, so its time cannot be told from the rest of the step.
SN40L = Accelerator(
    name="sn40l", vendor="sambanova", architecture="sn40l", memory_bytes=64e9, memory_bytes_per_s=1.6e12,
    flops={Precision.BF16: 638e12}, achievable_flops={},
    link=Link(name="peer to peer", bytes_per_s=100e9, pair_bytes_per_s=100e9), fast_domain_chips=8,
)  # fmt: skip
# Intel's product page: 128 GB at 3.28 TB/s; the rate is 1024 matrix engines x 256 products x 1.6 GHz; the link a guess.
MAX_1550 = Accelerator(
    name="max-1550", vendor="intel", architecture="ponte-vecchio", memory_bytes=128e9, memory_bytes_per_s=3.2768e12,
    flops={Precision.BF16: 839e12}, achievable_flops={},
    link=Link(name="Xe Link", bytes_per_s=200e9, pair_bytes_per_s=50e9), fast_domain_chips=6,
)  # fmt: skip


class Hardware(Struct, frozen=True, kw_only=True):
    """One label of the file."""

    label: str  # ours, on the page
    chip: Accelerator


HARDWARE = {
    # 70B at 16 bit on four of them begins to wait for memory at batches of 16: they have 40 GB.
    "Nvidia A100 GPU": Hardware(label="a100-40gb", chip=accelerator("a100-40gb")),
    "Nvidia H100 GPU": Hardware(label="h100-sxm", chip=accelerator("h100-sxm")),
    "Nvidia GH200 GPU": Hardware(label="gh200", chip=accelerator("gh200")),
    # 70B at 16 bit runs on two: a number counts whole modules, not dies.
    "AMD MI250 GPU": Hardware(label="mi250", chip=accelerator("mi250")),
    "AMD MI300X GPU": Hardware(label="mi300x", chip=accelerator("mi300x")),
    "Habana Gaudi2": Hardware(label="gaudi2", chip=accelerator("gaudi2")),
    # Two labels for one product, measured apart: they contradict each other and stay apart.
    "Intel PVC GPU": Hardware(label="max-1550 (PVC)", chip=MAX_1550),
    "Intel Max 1550": Hardware(label="max-1550", chip=MAX_1550),
    "SambaNova SN40L": Hardware(label="sn40l", chip=SN40L),
}
