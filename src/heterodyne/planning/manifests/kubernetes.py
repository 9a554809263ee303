"""A launch as a Deployment, a Service, a PodDisruptionBudget, a claim for weights, a ConfigMap for an engine's file."""

import re
from math import ceil
from pathlib import PurePosixPath

from heterodyne.domain.errors import InvalidSpec, PlanImpossible
from heterodyne.planning.launch.launch_plan import POD, LaunchPlan
from heterodyne.planning.launch.registry import launch_plan
from heterodyne.planning.launch.sizing import Sizing
from heterodyne.planning.launch.weights import is_path
from heterodyne.planning.manifests.resources import (
    USER,
    is_without_root,
    node,
    resources,
    shared_memory_gib,
    weights_gib,
)
from heterodyne.planning.platform import PADDED, Platform
from heterodyne.planning.yaml_text import YamlValue, yaml_text

Manifest = dict[str, YamlValue]

CACHE_FOLDER = "/cache"
CACHE_SPARE_GIB = 20
LOAD_BYTES_PER_S = 200e6  # weights over an ordinary network
START_S = 300
COMPILE_S = 3600  # where shapes are compiled before the first request
PROBE_PERIOD_S = 10
LEAVE_S = 10  # until every gateway has noticed that the pod is leaving
TOKEN_SECRET = "huggingface"  # noqa: S105 - the name of a Secret, not one


def manifests(sizing: Sizing, *, replicas: int = 1, image: str | None = None) -> tuple[Manifest, ...]:
    """Every object of one pool; raises `PlanImpossible` where no cluster can run it."""
    if replicas < 1:
        raise InvalidSpec(f"replicas: {replicas} is not a whole number above zero")
    plan = launch_plan(sizing, POD)
    used = image or plan.image
    if used is None:
        raise PlanImpossible(
            f"{sizing.layout.accelerator.name}: no Kubernetes node offers it to containers; use --format command"
        )
    name = object_name(sizing)
    labels: dict[str, YamlValue] = {
        "app.kubernetes.io/name": str(sizing.layout.engine),
        "app.kubernetes.io/instance": name,
        "app.kubernetes.io/component": "engine",
        "app.kubernetes.io/part-of": "heterodyne",
    }
    selected: dict[str, YamlValue] = {"app.kubernetes.io/instance": name}
    files = [_config_map(name, labels, plan)] if plan.files else []
    return (
        *files,
        *([] if is_path(sizing.weights.place) else [_claim(sizing, name, labels)]),
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": name, "labels": labels},
            "spec": {
                "replicas": replicas,
                "selector": {"matchLabels": selected},
                # Chips are rarely spare, so the old pod leaves before the new one comes.
                "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}},
                "progressDeadlineSeconds": _start_s(sizing) + 120,
                "template": {
                    "metadata": {"labels": labels, "annotations": _scraped(plan)},
                    "spec": _pod(sizing, plan, used, name),
                },
            },
        },
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": name, "labels": labels},
            "spec": {
                "selector": selected,
                "ports": [{"name": "http", "port": plan.port, "targetPort": "http", "protocol": "TCP"}],
            },
        },
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": name, "labels": labels},
            "spec": {"maxUnavailable": 1, "selector": {"matchLabels": selected}},
        },
    )


def manifests_text(objects: tuple[Manifest, ...], notes: tuple[str, ...] = ()) -> str:
    """Every object as one YAML stream, the notes above it."""
    return "".join(f"# {note}\n" for note in notes) + "---\n".join(map(yaml_text, objects))


def manifests_notes(sizing: Sizing) -> tuple[str, ...]:
    """What an operator must know or prepare before applying them."""
    said = []
    if is_path(sizing.weights.place):
        said.append(f"the PersistentVolumeClaim {object_name(sizing)}-weights must hold {sizing.weights.place}")
    else:
        said.append(
            f"the PersistentVolumeClaim {object_name(sizing)}-cache keeps the weights beyond a pod, for all pods at "
            "once: it wants a storage class that many nodes may write to (ReadWriteMany)"
        )
    selector = node(sizing).selector
    if selector:
        labels = ", ".join(f"{label}={value}" for label, value in selector.items())
        said.append(f"pods go to nodes labelled {labels}; change the label where your cluster has another")
    if not is_without_root(sizing):
        said.append("the engine runs as root, as its image is built; without capabilities or new privileges")
    return tuple(said)


def object_name(sizing: Sizing) -> str:
    """A name Kubernetes and our own settings accept, from model, chip and class."""
    layout = sizing.layout
    if sizing.name is not None:
        return sizing.name
    words = f"{layout.model.name}-{layout.accelerator.name}-{sizing.workload}".lower()
    name = re.sub(r"[^a-z0-9]+", "-", words).strip("-")[:60].rstrip("-")
    return name if name[0].isalpha() else f"m-{name}"


def _claim(sizing: Sizing, name: str, labels: dict[str, YamlValue]) -> Manifest:
    """Weights are fetched once and not by every pod that starts; what an engine compiles is kept beside them."""
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": f"{name}-cache", "labels": labels},
        "spec": {
            "accessModes": ["ReadWriteMany"],
            "resources": {"requests": {"storage": f"{CACHE_SPARE_GIB + weights_gib(sizing)}Gi"}},
        },
    }


def _config_map(name: str, labels: dict[str, YamlValue], plan: LaunchPlan) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "labels": labels},
        "data": plan.files,
    }


def _scraped(plan: LaunchPlan) -> dict[str, YamlValue]:
    return {
        "prometheus.io/scrape": "true",
        "prometheus.io/port": str(plan.port),
        "prometheus.io/path": plan.metrics_path,
    }


def _pod(sizing: Sizing, plan: LaunchPlan, image: str, name: str) -> dict[str, YamlValue]:
    where = node(sizing)
    pod: dict[str, YamlValue] = {
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,  # variables named after services would reach the engine as its own settings
        "terminationGracePeriodSeconds": sizing.drain_s + 2 * LEAVE_S,
        "securityContext": _pod_security(sizing),
        "containers": [_container(sizing, plan, image)],
        "volumes": _volumes(sizing, plan, name),
    }
    if where.selector:
        pod["nodeSelector"] = where.selector
    if where.tolerated:
        pod["tolerations"] = [{"key": key, "operator": "Exists", "effect": "NoSchedule"} for key in where.tolerated]
    return pod


def _pod_security(sizing: Sizing) -> dict[str, YamlValue]:
    seccomp: dict[str, YamlValue] = {"seccompProfile": {"type": "RuntimeDefault"}}
    if not is_without_root(sizing):
        return seccomp
    return {"runAsNonRoot": True, "runAsUser": USER, "runAsGroup": USER, "fsGroup": USER, **seccomp}


def _container(sizing: Sizing, plan: LaunchPlan, image: str) -> dict[str, YamlValue]:
    probe: dict[str, YamlValue] = {"httpGet": {"path": plan.health_path, "port": "http"}, "timeoutSeconds": 5}
    return {
        "name": "engine",
        "image": image,
        "command": list(plan.argv),
        "env": _environment(plan),
        "ports": [{"name": "http", "containerPort": plan.port, "protocol": "TCP"}],
        "resources": resources(sizing),
        "startupProbe": {
            **probe,
            "periodSeconds": PROBE_PERIOD_S,
            "failureThreshold": ceil(_start_s(sizing) / PROBE_PERIOD_S),
        },
        "readinessProbe": {**probe, "periodSeconds": 5, "failureThreshold": 2},
        "livenessProbe": {**probe, "periodSeconds": PROBE_PERIOD_S, "failureThreshold": 6},
        "lifecycle": {"preStop": {"sleep": {"seconds": LEAVE_S}}},
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
        "volumeMounts": _mounts(sizing, plan),
    }


def _environment(plan: LaunchPlan) -> list[YamlValue]:
    token: YamlValue = {
        "name": "HF_TOKEN",
        "valueFrom": {"secretKeyRef": {"name": TOKEN_SECRET, "key": "token", "optional": True}},
    }
    return [
        *({"name": one.name, "value": one.value} for one in plan.environment),
        {"name": "HOME", "value": CACHE_FOLDER},
        {"name": "HF_HOME", "value": f"{CACHE_FOLDER}/huggingface"},
        token,
    ]


def _mounts(sizing: Sizing, plan: LaunchPlan) -> list[YamlValue]:
    mounts: list[YamlValue] = [
        {"name": "shared-memory", "mountPath": "/dev/shm"},  # noqa: S108 - the engine's own, of this pod
        {"name": "cache", "mountPath": CACHE_FOLDER},
    ]
    if plan.files:
        mounts.append({"name": "options", "mountPath": POD.files_folder, "readOnly": True})
    if is_path(sizing.weights.place):
        mounts.append({"name": "weights", "mountPath": _folder(sizing.weights.place), "readOnly": True})
    return mounts


def _volumes(sizing: Sizing, plan: LaunchPlan, name: str) -> list[YamlValue]:
    is_on_volume = is_path(sizing.weights.place)
    cache: dict[str, YamlValue] = {"name": "cache", "persistentVolumeClaim": {"claimName": f"{name}-cache"}}
    if is_on_volume:
        cache = {"name": "cache", "emptyDir": {"sizeLimit": f"{CACHE_SPARE_GIB}Gi"}}
    volumes: list[YamlValue] = [
        {
            "name": "shared-memory",
            "emptyDir": {"medium": "Memory", "sizeLimit": f"{shared_memory_gib(sizing)}Gi"},
        },
        cache,
    ]
    if plan.files:
        volumes.append({"name": "options", "configMap": {"name": name}})
    if is_on_volume:
        claim: YamlValue = {"claimName": f"{name}-weights", "readOnly": True}
        volumes.append({"name": "weights", "persistentVolumeClaim": claim})
    return volumes


def _folder(place: str) -> str:
    """A file's folder, or the folder itself; raises for a path that means nothing inside a pod."""
    path = PurePosixPath(place)
    if not path.is_absolute():
        raise InvalidSpec(f"weights: {place} is a path on this machine; in a pod it must be absolute, /models/…")
    return str(path.parent) if path.suffix == ".gguf" else place


def _start_s(sizing: Sizing) -> int:
    """Time to load the weights and get ready, generously: a probe that is impatient restarts for ever."""
    is_compiling = sizing.platform in PADDED or sizing.platform is Platform.GAUDI
    load_s = weights_gib(sizing) * 2**30 / LOAD_BYTES_PER_S
    return ceil(START_S + load_s + (COMPILE_S if is_compiling else 0))
