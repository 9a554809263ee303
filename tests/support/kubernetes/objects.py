"""The objects of an engine pool as controllers would write them, and a kubeconfig to reach them."""

import json
from pathlib import Path
from typing import Any

from tests.support.kubernetes.server import KubernetesServer
from tests.support.kubernetes.store import Json

NAMESPACE = "llm"
LABELS = {"app": "vllm-chat"}


def pod(
    name: str, *, ip: str | None = "10.0.0.1", node: str | None = "gpu-1", ready: bool = True, **extra: Any
) -> Json:
    labels = {**LABELS, **extra.pop("labels", {})}
    conditions = [{"type": "Ready", "status": "True" if ready else "False"}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": labels, **extra.pop("metadata", {})},
        "spec": {
            "nodeName": node,
            "containers": [{"name": "engine", "image": "vllm", "ports": [{"name": "http", "containerPort": 8000}]}],
        },
        "status": {"phase": "Running", "podIP": ip, "conditions": conditions, **extra.pop("status", {})},
    }


def node(
    name: str, product: str | None = "NVIDIA-H100-80GB-HBM3", *, region: str = "eu-west-1", gpus: str = "8"
) -> Json:
    labels = {"topology.kubernetes.io/region": region}
    if product is not None:
        labels["nvidia.com/gpu.product"] = product
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": {"allocatable": {"cpu": "64", "nvidia.com/gpu": gpus}},
    }


def service(name: str = "chat") -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"selector": LABELS, "ports": [{"name": "http", "port": 80, "targetPort": "http"}]},
    }


def endpoint(name: str, ip: str, *, node: str = "gpu-1", ready: bool = True, terminating: bool = False) -> Json:
    return {
        "addresses": [ip],
        "conditions": {"ready": ready, "serving": ready, "terminating": terminating},
        "nodeName": node,
        "targetRef": {"kind": "Pod", "name": name, "namespace": NAMESPACE, "uid": f"uid-{name}"},
    }


def endpoint_slice(name: str, *endpoints: Json, port: int = 8000, of: str = "chat") -> Json:
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": {"kubernetes.io/service-name": of}},
        "addressType": "IPv4",
        "endpoints": list(endpoints),
        "ports": [{"name": "http", "port": port, "protocol": "TCP"}],
    }


def deployment(name: str = "chat", replicas: int = 2) -> Json:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": LABELS},
            "template": {"metadata": {"labels": LABELS}, "spec": {"containers": [{"name": "engine", "image": "vllm"}]}},
        },
        "status": {"replicas": replicas},
    }


def kubeconfig(folder: Path, server: KubernetesServer, token: str) -> Path:
    """In JSON, which is YAML."""
    path = folder / "kubeconfig"
    said = {
        "current-context": "here",
        "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u", "namespace": NAMESPACE}}],
        "clusters": [{"name": "c", "cluster": {"server": server.url}}],
        "users": [{"name": "u", "user": {"token": token}}],
    }
    path.write_text(json.dumps(said), encoding="utf-8")
    return path
