"""InferencePools, objectives and pods as a folder of manifests has them."""

from pathlib import Path

import pytest

from heterodyne.domain.errors import InvalidSpec
from heterodyne.fleet.inference_pools import folder_stamp, read_inference_manifests

POOL = """
apiVersion: inference.networking.k8s.io/v1
kind: InferencePool
metadata: {name: chat, namespace: serving}
spec:
  selector: {matchLabels: {app: vllm}}
  targetPorts: [{number: 8000}, {number: 8001}]
  endpointPickerRef: {name: heterodyne, port: {number: 9002}}
---
apiVersion: inference.networking.x-k8s.io/v1alpha2
kind: InferenceObjective
metadata: {name: crawl, namespace: serving}
spec: {priority: -10, poolRef: {name: chat}}
"""


def pod(name: str, address: str, *, app: str = "vllm", namespace: str = "serving", more: str = "") -> str:
    return f"""
apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: {namespace}, labels: {{app: {app}, zone: a}}{more}}}
status: {{podIP: "{address}", phase: Running}}
---
"""


def test_the_endpoints_of_a_pool_are_the_ports_of_the_pods_it_selects(tmp_path: Path) -> None:
    (tmp_path / "pool.yaml").write_text(POOL)
    (tmp_path / "pods.yml").write_text(
        pod("b", "10.0.0.2")
        + pod("a", "fd00::1")
        + pod("other-app", "10.0.0.3", app="web")
        + pod("other-namespace", "10.0.0.4", namespace="default")
        + pod("leaving", "10.0.0.5", more=", deletionTimestamp: '2026-01-01T00:00:00Z'")
        + pod("without-address", "")
    )
    manifests = read_inference_manifests(tmp_path)
    assert manifests.endpoints(manifests.pools["serving/chat"]) == (
        "[fd00::1]:8000",
        "[fd00::1]:8001",
        "10.0.0.2:8000",
        "10.0.0.2:8001",
    )
    assert manifests.objectives == {"crawl": -10}


def test_lists_are_read_as_kubectl_prints_them_and_other_kinds_are_not(tmp_path: Path) -> None:
    item = '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"status":{"podIP":"10.0.0.1"}}'
    (tmp_path / "all.json").write_text(
        f'{{"apiVersion":"v1","kind":"List","items":[{item},{{"kind":"Service","spec":7}}]}}'
    )
    (tmp_path / "readme.txt").write_text("not: [yaml")
    assert set(read_inference_manifests(tmp_path).pods) == {"default/a"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            POOL.replace("8000", "80000"),
            "InferencePool chat: Expected `int` <= 65535 - at `$.spec.targetPorts[0].number`",
        ),
        (POOL.replace("io/v1\n", "x-k8s.io/v1alpha2\n", 1).replace("k8s.x-", "x-"), "is not read"),
        (
            POOL.replace("{matchLabels: {app: vllm}}", "{}"),
            "missing required field `matchLabels` - at `$.spec.selector`",
        ),
        ("a: [", "cannot be read"),
        ("- 1", "document 1: not an object"),
    ],
    ids=["port", "version", "selector", "yaml", "shape"],
)
def test_what_cannot_be_read_is_named_with_its_file_and_object(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "pool.yaml").write_text(text)
    with pytest.raises(InvalidSpec) as error:
        read_inference_manifests(tmp_path)
    assert str(tmp_path / "pool.yaml") in error.value.message
    assert said in error.value.message


def test_a_folder_that_is_not_there_is_named_and_has_no_stamp(tmp_path: Path) -> None:
    with pytest.raises(InvalidSpec, match="No such file"):
        read_inference_manifests(tmp_path / "none")
    assert folder_stamp(tmp_path / "none") is None


def test_a_folder_has_another_stamp_when_a_manifest_has_changed(tmp_path: Path) -> None:
    before = folder_stamp(tmp_path)
    (tmp_path / "pool.yaml").write_text(POOL)
    written = folder_stamp(tmp_path)
    (tmp_path / "pool.yaml").write_text(POOL + "\n")
    assert len({before, written, folder_stamp(tmp_path)}) == 3
