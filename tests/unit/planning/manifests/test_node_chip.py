"""The labels that `plan config` selects nodes by are read back as the same accelerators."""

import pytest

from heterodyne.physics.catalogue import accelerators
from heterodyne.planning.manifests.node_chip import has_accelerator, node_chip
from heterodyne.planning.manifests.resources import NODE_LABELS

LABELS = [(label, value, name) for label, values in NODE_LABELS.items() for name, value in values.items()]


@pytest.mark.parametrize(("label", "value", "name"), LABELS)
def test_every_label_that_is_selected_by_is_read_back(label: str, value: str, name: str) -> None:
    chip = node_chip({label: value}, accelerators()).chip
    assert chip is not None
    assert chip.name == name


@pytest.mark.parametrize(
    ("labels", "name"),
    [
        ({"nvidia.com/gpu.product": "NVIDIA-L40S-SHARED"}, "l40s"),
        ({"cloud.google.com/gke-accelerator": "nvidia-l4"}, "l4"),
        ({"node.kubernetes.io/instance-type": "n1-standard-4", "cloud.google.com/gke-accelerator": "nvidia-l4"}, "l4"),
    ],
)
def test_labels_of_others_are_read(labels: dict[str, str], name: str) -> None:
    chip = node_chip(labels, accelerators()).chip
    assert chip is not None
    assert chip.name == name


def test_an_instance_type_alone_says_nothing() -> None:
    assert node_chip({"node.kubernetes.io/instance-type": "m5.large"}, accelerators()).complaint == (
        "no label nvidia.com/gpu.product"
    )


def test_devices_that_all_failed_are_none() -> None:
    assert has_accelerator({"amd.com/gpu": "4"})
    assert not has_accelerator({"cpu": "64", "nvidia.com/gpu": "0"})
