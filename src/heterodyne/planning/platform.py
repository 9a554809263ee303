"""What an accelerator means to an engine: its software platform, the chips of one host, the ranks of one chip."""

from enum import StrEnum

from msgspec import Struct

from heterodyne.domain.errors import InvalidSpec
from heterodyne.physics.hardware import Accelerator


class Platform(StrEnum):
    """The software an engine is built for."""

    CUDA = "cuda"
    ROCM = "rocm"
    TPU = "tpu"
    NEURON = "neuron"
    GAUDI = "gaudi"
    XPU = "xpu"
    CPU = "cpu"
    METAL = "metal"


class Host(Struct, frozen=True, kw_only=True):
    """How chips are sold together."""

    widths: tuple[int, ...]  # chips one process may take
    ranks_per_chip: int = 1  # devices an engine counts where we count one chip
    is_any_width: bool = True  # False: the cloud hands out exactly these numbers of chips


PCIE = "PCIe"  # how the names of such links begin

# Shapes are compiled ahead here, so a batch is padded up to the next power of two anyway.
PADDED = frozenset({Platform.TPU, Platform.NEURON})

_VENDORS = {
    "nvidia": Platform.CUDA,
    "amd": Platform.ROCM,
    "google": Platform.TPU,
    "aws": Platform.NEURON,
    "apple": Platform.METAL,
}
_ARCHITECTURES = {
    "gaudi": Platform.GAUDI,
    "battlemage": Platform.XPU,
    "sapphire-rapids": Platform.CPU,
    "neoverse-v2": Platform.CPU,
}
_HOSTS = {
    "gb200": Host(widths=(1, 2, 4)),
    "gb300": Host(widths=(1, 2, 4)),
    "tpu-v5e": Host(widths=(1, 4, 8), is_any_width=False),
    "tpu-v6e": Host(widths=(1, 4, 8), is_any_width=False),
    "tpu-v5p": Host(widths=(4,), is_any_width=False),
    "tpu-v7x": Host(widths=(4,), ranks_per_chip=2, is_any_width=False),  # two tensor cores, each a device of its own
    "inferentia2": Host(widths=(1, 2, 4, 8, 12), ranks_per_chip=2),
    # Eight physical cores, joined in pairs by default (logical NeuronCore configuration 2).
    "trainium2": Host(widths=(1, 2, 4, 8, 16), ranks_per_chip=4),
    "cpu-x86": Host(widths=(1, 2)),
    "cpu-arm": Host(widths=(1,)),
}
_USUAL_HOSTS = {Platform.METAL: Host(widths=(1,)), Platform.CPU: Host(widths=(1, 2))}
_USUAL_HOST = Host(widths=(1, 2, 4, 8))


def platform_of(chip: Accelerator) -> Platform:
    """The platform of a chip; raises `InvalidSpec` for one of a maker we do not know."""
    found = _ARCHITECTURES.get(chip.architecture) or _VENDORS.get(chip.vendor)
    if found is None:
        known = ", ".join(_VENDORS)
        raise InvalidSpec(f"{chip.name}: no engine platform is known for vendor {chip.vendor}; known: {known}")
    return found


def host_of(chip: Accelerator) -> Host:
    """The host such a chip usually sits in."""
    return _HOSTS.get(chip.name) or _USUAL_HOSTS.get(platform_of(chip), _USUAL_HOST)


def joined_widths(chip: Accelerator) -> tuple[int, ...]:
    """How many of them one replica may take: as they are sold, as far as a link joins them.

    Cards without a link of their own go on over PCIe, whose speed their catalogue entry has.
    """
    try:
        widths = host_of(chip).widths
    except InvalidSpec:  # a chip of the operator's own
        widths = _USUAL_HOST.widths
    if chip.link.name.startswith(PCIE):
        return widths
    return tuple(width for width in widths if width <= chip.fast_domain_chips)
