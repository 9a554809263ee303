"""Which accelerator a node has, by the labels of the makers' labellers: what `plan config` selects by, read back."""

from collections.abc import Mapping

from msgspec import Struct

from heterodyne.domain.errors import UnknownName
from heterodyne.physics.catalogue import accelerator
from heterodyne.physics.hardware import Accelerator
from heterodyne.planning.manifests.resources import INSTANCE_LABEL, NODE_LABELS, RESOURCES

GKE_LABEL = "cloud.google.com/gke-accelerator"  # with names such as `nvidia-l4`
PREFIXES = ("", "nvidia-tesla-", "nvidia-")


class NodeChip(Struct, frozen=True, kw_only=True):
    """What labels say. None: they do not say it, or a word that the catalogue does not have."""

    chip: Accelerator | None = None
    complaint: str | None = None


def node_chip(labels: Mapping[str, str], catalogue: Mapping[str, Accelerator], label: str | None = None) -> NodeChip:
    """By one label, or else by the first of those that are known."""
    asked = (label,) if label is not None else (*NODE_LABELS, GKE_LABEL)
    unknown = None
    for one in asked:
        value = labels.get(one)
        if value is None:
            continue
        chip = _chip(value, catalogue)
        if chip is not None:
            return NodeChip(chip=chip)
        if one != INSTANCE_LABEL:  # every node of a cloud has it, and most say nothing of accelerators
            unknown = unknown or f'label {one} is "{value}", which is no accelerator of the catalogue'
    return NodeChip(complaint=unknown or f"no label {label or next(iter(NODE_LABELS))}")


def has_accelerator(allocatable: Mapping[str, str]) -> bool:
    """Whether a device plugin offers any; one whose devices all failed offers none."""
    return any(allocatable.get(resource, "0") != "0" for resource in RESOURCES.values())


def _chip(value: str, catalogue: Mapping[str, Accelerator]) -> Accelerator | None:
    product = value.removesuffix("-SHARED").lower()  # so the labeller calls what shares a chip in time
    for values in NODE_LABELS.values():
        for name, known in values.items():
            if product == known.lower():
                return catalogue.get(name)
    for prefix in PREFIXES:
        try:
            return accelerator(product.removeprefix(prefix), catalogue)
        except UnknownName:
            continue
    return None
