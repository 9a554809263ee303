"""Reads the Gateway API Inference Extension's objects from a folder of manifests: pools, objectives, and their pods."""

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar

import msgspec
from msgspec import Meta, Struct

from heterodyne.domain.errors import InvalidSpec

GROUP: Final = "inference.networking.k8s.io/"
SUFFIXES: Final = (".yaml", ".yml", ".json")
FILE_BYTES_MAX: Final = 16 << 20
FILES_MAX: Final = 1000
NAMESPACE: Final = "default"

Shape = TypeVar("Shape")
FolderStamp = tuple[tuple[str, int, int], ...]
PortNumber = Annotated[int, Meta(ge=1, le=65535)]


class ObjectMetadata(Struct, frozen=True, rename="camel"):
    """Of any object."""

    name: str
    namespace: str = NAMESPACE
    labels: dict[str, str] = {}
    deletion_timestamp: str | None = None  # None: nobody has deleted it


class PoolSelector(Struct, frozen=True, rename="camel"):
    """An InferencePool's, which has no expressions."""

    match_labels: dict[str, str]


class TargetPort(Struct, frozen=True):
    """Where a pod of the pool listens; of data-parallel ranks each has one."""

    number: PortNumber


class InferencePoolSpec(Struct, frozen=True, rename="camel"):
    """As far as an endpoint picker goes by it."""

    selector: PoolSelector
    target_ports: Annotated[tuple[TargetPort, ...], Meta(min_length=1, max_length=8)]


class InferencePool(Struct, frozen=True):
    """Which pods are endpoints."""

    metadata: ObjectMetadata
    spec: InferencePoolSpec


class InferenceObjectiveSpec(Struct, frozen=True):
    """As far as an endpoint picker goes by it."""

    priority: int = 0


class InferenceObjective(Struct, frozen=True):
    """How far requests that name it come when there is not enough for all."""

    metadata: ObjectMetadata
    spec: InferenceObjectiveSpec


class EndpointPodStatus(Struct, frozen=True):
    """What the kubelet says of it."""

    podIP: str = ""  # as Kubernetes spells it, which no rule for names does
    phase: str = "Running"


class EndpointPod(Struct, frozen=True):
    """Where an engine runs."""

    metadata: ObjectMetadata
    status: EndpointPodStatus = EndpointPodStatus()


class InferenceManifests(Struct, frozen=True, kw_only=True):
    """Everything that was found, by `namespace/name`; of objectives by name alone, as requests name them."""

    pools: dict[str, InferencePool] = {}
    objectives: dict[str, int] = {}
    pods: dict[str, EndpointPod] = {}

    def endpoints(self, pool: InferencePool) -> tuple[str, ...]:
        """Each port of each pod that the pool selects, as `ip:port`; the same pods give the same order."""
        wanted, namespace = pool.spec.selector.match_labels, pool.metadata.namespace
        addresses = (
            pod.status.podIP
            for _, pod in sorted(self.pods.items())
            if pod.metadata.namespace == namespace
            and pod.status.podIP
            and pod.status.phase == "Running"
            and pod.metadata.deletion_timestamp is None
            and wanted.items() <= pod.metadata.labels.items()
        )
        return tuple(
            f"[{address}]:{port.number}" if ":" in address else f"{address}:{port.number}"
            for address in addresses
            for port in pool.spec.target_ports
        )


def read_inference_manifests(folder: Path) -> InferenceManifests:
    """Of other kinds nothing is read. Raises InvalidSpec, with the file and the object's name, for what cannot be."""
    pools: dict[str, InferencePool] = {}
    objectives: dict[str, int] = {}
    pods: dict[str, EndpointPod] = {}
    for place, found in _objects(folder):
        kind, version = found.get("kind"), str(found.get("apiVersion", ""))
        if kind == "InferencePool":
            if not version.startswith(GROUP):
                raise InvalidSpec(f"{place}: apiVersion {version!r} of an InferencePool is not read; {GROUP}v1 is")
            pool = _converted(found, InferencePool, place)
            pools[_key(pool.metadata)] = pool
        elif kind == "InferenceObjective":
            objective = _converted(found, InferenceObjective, place)
            objectives[objective.metadata.name] = objective.spec.priority
        elif kind == "Pod":
            pod = _converted(found, EndpointPod, place)
            pods[_key(pod.metadata)] = pod
    return InferenceManifests(pools=pools, objectives=objectives, pods=pods)


def manifest_files(folder: Path) -> list[Path]:
    """Those that are read, in their order; raises InvalidSpec where there is no such folder."""
    try:
        files = sorted(one for one in folder.iterdir() if one.suffix in SUFFIXES and one.is_file())
    except OSError as error:
        raise InvalidSpec(f"{folder}: {error.strerror or error}") from error
    if len(files) > FILES_MAX:
        raise InvalidSpec(f"{folder}: {len(files)} files; the limit is {FILES_MAX}")
    return files


def folder_stamp(folder: Path) -> FolderStamp | None:
    """What changes when a manifest does; None while the folder cannot be looked at."""
    try:
        states = [(one.name, one.stat()) for one in manifest_files(folder)]
    except (OSError, InvalidSpec):
        return None
    return tuple((name, state.st_mtime_ns, state.st_size) for name, state in states)


def _objects(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        yaml = importlib.import_module("yaml")
    except ModuleNotFoundError as error:
        raise InvalidSpec(f"{folder}: reading manifests needs `pip install heterodyne[endpoint-picker]`") from error
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    for file in manifest_files(folder):
        try:
            if file.stat().st_size > FILE_BYTES_MAX:
                raise InvalidSpec(f"{file}: larger than {FILE_BYTES_MAX >> 20} MiB")
            documents = list(yaml.load_all(file.read_bytes(), Loader=loader))
        except (OSError, yaml.YAMLError, RecursionError) as error:
            raise InvalidSpec(f"{file}: cannot be read: {str(error) or type(error).__name__}") from error
        for number, document in enumerate(documents, 1):
            yield from _items(document, f"{file}: document {number}")


def _items(document: Any, place: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """An object, or each of a list, as `kubectl get` prints several."""
    if document is None:
        return
    if not isinstance(document, dict):
        raise InvalidSpec(f"{place}: not an object")
    items = document.get("items")
    if str(document.get("kind", "")).endswith("List") and isinstance(items, list):
        for number, item in enumerate(items):
            yield from _items(item, f"{place}, items[{number}]")
        return
    metadata = document.get("metadata")
    name = metadata.get("name", "") if isinstance(metadata, dict) else ""
    yield f"{place}, {document.get('kind', 'without a kind')} {name}", document


def _converted(found: dict[str, Any], shape: type[Shape], place: str) -> Shape:
    try:
        return msgspec.convert(found, shape, strict=False)
    except msgspec.ValidationError as error:
        raise InvalidSpec(f"{place}: {error}") from error


def _key(metadata: ObjectMetadata) -> str:
    return f"{metadata.namespace}/{metadata.name}"
