"""Manifests: every one is what the Kubernetes API's own schemas accept, strictly."""

import kubernetes_validate
import pytest
import yaml

from heterodyne.domain.errors import InvalidSpec, PlanImpossible
from heterodyne.physics.catalogue import accelerator, accelerators
from heterodyne.physics.engine_kind import EngineKind
from heterodyne.physics.model_shapes import model_spec
from heterodyne.planning.launch.requirements import LaunchRequirements
from heterodyne.planning.launch.sizing import Sizing, size
from heterodyne.planning.manifests.kubernetes import manifests, manifests_notes, manifests_text
from heterodyne.planning.workload_class import WorkloadClass

SCHEMAS = ("1.37", "1.32")
PAIRS = [
    (chip.name, engine)
    for chip in accelerators().values()
    for engine in EngineKind
    if engine in chip.engines and chip.vendor != "apple"
]


def sized(chip: str, engine: EngineKind | None = None, **wishes: object) -> Sizing:
    spec = model_spec("llama-3.1-8b")
    requirements = LaunchRequirements(
        model=spec,
        accelerator=accelerator(chip),
        workload=WorkloadClass.INTERACTIVE,
        precision=spec.checkpoint_precision,
        engine=engine,
        **wishes,  # type: ignore[arg-type]
    )
    return size(requirements, accelerators())


def by_kind(sizing: Sizing, **options: object) -> dict[str, dict]:
    text = manifests_text(manifests(sizing, **options), ("a note",))  # type: ignore[arg-type]
    return {one["kind"]: one for one in yaml.safe_load_all(text)}


@pytest.mark.parametrize(("chip", "engine"), PAIRS)
def test_every_manifest_keeps_to_the_schemas_of_the_api(chip: str, engine: EngineKind) -> None:
    objects = by_kind(sized(chip, engine), replicas=2)
    assert {"Deployment", "Service", "PodDisruptionBudget"} <= set(objects)
    for version in SCHEMAS:
        for one in objects.values():
            kubernetes_validate.validate(one, version, strict=True)


def test_the_schemas_do_refuse_what_is_wrong() -> None:
    wrong = by_kind(sized("h100-sxm"))["Deployment"]
    wrong["spec"]["template"]["spec"]["containers"][0]["imagee"] = "x"
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, SCHEMAS[0], strict=True)


@pytest.mark.parametrize(
    ("chip", "resource"),
    [
        ("h100-sxm", "nvidia.com/gpu"),
        ("mi300x", "amd.com/gpu"),
        ("tpu-v6e", "google.com/tpu"),
        ("trainium2", "aws.amazon.com/neuron"),
        ("gaudi3", "habana.ai/gaudi"),
        ("arc-pro-b60", "gpu.intel.com/xe"),
    ],
)
def test_a_pod_asks_for_the_chips_of_its_vendor(chip: str, resource: str) -> None:
    asked = _container(sized(chip))["resources"]
    assert asked["requests"][resource] == asked["limits"][resource] == "1"


def test_a_processor_asks_for_memory_that_holds_the_model() -> None:
    asked = _container(sized("cpu-x86"))["resources"]
    assert set(asked) == {"requests"}
    assert int(asked["requests"]["memory"].removesuffix("Gi")) > 32


def test_a_tpu_pod_selects_its_accelerator_and_topology() -> None:
    pod = by_kind(sized("tpu-v6e", tp=8))["Deployment"]["spec"]["template"]["spec"]
    assert pod["nodeSelector"] == {
        "cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice",
        "cloud.google.com/gke-tpu-topology": "2x4",
    }


def test_a_pod_is_started_patiently_probed_where_the_engine_answers_and_drained() -> None:
    sizing = sized("h100-sxm")
    container = _container(sizing)
    probe = container["startupProbe"]
    assert probe["httpGet"] == {"path": "/health", "port": "http"}
    assert probe["periodSeconds"] * probe["failureThreshold"] >= 300
    pod = by_kind(sizing)["Deployment"]["spec"]["template"]["spec"]
    assert pod["terminationGracePeriodSeconds"] > sizing.drain_s
    assert _container(sized("tpu-v6e"))["startupProbe"]["failureThreshold"] > 360


def test_a_pod_gains_no_privileges() -> None:
    pod = by_kind(sized("h100-sxm"))["Deployment"]["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert pod["automountServiceAccountToken"] is False
    context = pod["containers"][0]["securityContext"]
    assert context == {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}


def test_an_image_built_for_root_is_admitted_to_be() -> None:
    sizing = sized("mi300x")
    assert "runAsNonRoot" not in by_kind(sizing)["Deployment"]["spec"]["template"]["spec"]["securityContext"]
    assert any("runs as root" in note for note in manifests_notes(sizing))


def test_metrics_are_scraped_where_the_engine_has_them() -> None:
    sizing = sized("h100-sxm", EngineKind.TENSORRT_LLM)
    notes = by_kind(sizing)["Deployment"]["spec"]["template"]["metadata"]["annotations"]
    assert notes["prometheus.io/path"] == "/prometheus/metrics"


def test_the_options_of_tensorrt_llm_travel_in_a_config_map() -> None:
    objects = by_kind(sized("h100-sxm", EngineKind.TENSORRT_LLM))
    assert "tensorrt-llm.yaml" in objects["ConfigMap"]["data"]
    assert (
        "/etc/heterodyne/tensorrt-llm.yaml"
        in objects["Deployment"]["spec"]["template"]["spec"]["containers"][0]["command"]
    )


def test_weights_on_a_path_come_from_a_volume() -> None:
    pod = by_kind(sized("l4", EngineKind.LLAMACPP))["Deployment"]["spec"]["template"]["spec"]
    assert {"name": "weights", "mountPath": "/models", "readOnly": True} in pod["containers"][0]["volumeMounts"]
    assert pod["containers"][0]["command"][0] == "/app/llama-server"
    first, *_ = manifests_notes(sized("l4", EngineKind.LLAMACPP))
    assert first.endswith("-weights must hold /models/llama-3.1-8b-bf16.gguf")


def test_fetched_weights_outlive_their_pod() -> None:
    objects = by_kind(sized("h100-sxm"))
    claim, pod = objects["PersistentVolumeClaim"], objects["Deployment"]["spec"]["template"]["spec"]
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    assert volumes["cache"] == {"name": "cache", "persistentVolumeClaim": {"claimName": claim["metadata"]["name"]}}
    assert int(claim["spec"]["resources"]["requests"]["storage"].removesuffix("Gi")) > 30


@pytest.mark.parametrize(
    ("chip", "label"),
    [
        ("h100-sxm", {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"}),
        ("mi300x", {"amd.com/gpu.family": "MI300X"}),
        ("trainium2", {"node.kubernetes.io/instance-type": "trn2.48xlarge"}),
    ],
)
def test_a_pod_goes_to_nodes_with_its_chips(chip: str, label: dict[str, str]) -> None:
    sizing = sized(chip)
    assert by_kind(sizing)["Deployment"]["spec"]["template"]["spec"]["nodeSelector"] == label
    assert any(next(iter(label)) in note for note in manifests_notes(sizing))


def test_a_path_of_this_machine_is_refused_in_a_pod() -> None:
    with pytest.raises(InvalidSpec, match="in a pod it must be absolute"):
        manifests(sized("l4", EngineKind.LLAMACPP, weights="./model.gguf"))


def test_a_chip_no_cluster_offers_has_no_manifests() -> None:
    with pytest.raises(PlanImpossible, match="m4-max: no Kubernetes node offers it"):
        manifests(sized("m4-max"))


def test_a_deployment_of_no_replicas_is_refused() -> None:
    with pytest.raises(InvalidSpec, match="replicas: 0"):
        manifests(sized("l4", EngineKind.LLAMACPP), replicas=0)


def _container(sizing: Sizing) -> dict:
    return by_kind(sizing)["Deployment"]["spec"]["template"]["spec"]["containers"][0]
