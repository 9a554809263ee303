"""Settings of pools whose `command` runs on other machines, and of the platforms that run it there."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from heterodyne.fleet.kubernetes_settings import KubernetesPoolSettings

Platform = Literal["here", "ray"]
Amount = Annotated[float, Meta(gt=0)]


class PlatformSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What all pools of a platform have in common."""

    ray_address: Annotated[
        Annotated[str, Meta(pattern=r"^ray://[^\s/]+:[0-9]+$")] | None,
        Meta(
            description='The Ray cluster that pools with `runs_on = "ray"` are on, as `ray://HEAD:10001`. It takes '
            "heterodyne[ray], in the cluster's own version of Ray and of Python."
        ),
    ] = None
    ray_namespace: Annotated[
        str,
        Meta(
            pattern=r"^[A-Za-z0-9_\-]{1,63}$",
            description="Ray namespace of the actors. Gateways with the same one share the replicas and their count.",
        ),
    ] = "heterodyne"


class PlacedPoolSettings(KubernetesPoolSettings, Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the `command` of a pool runs, and what it has to find there."""

    runs_on: Annotated[
        Platform,
        Meta(
            description="Where `command` runs: on this machine, or as actors of the Ray cluster at `fleet.ray_address`."
        ),
    ] = "here"
    ray_accelerator_type: Annotated[
        Annotated[str, Meta(min_length=1)] | None,
        Meta(description="Accelerator that the node of a replica must have, in Ray's words, such as `H100`."),
    ] = None
    ray_gpus: Annotated[
        Annotated[float, Meta(ge=0)] | None,
        Meta(description="`num_gpus` of a replica; absent, `tp` where there is a `ray_accelerator_type`, else none."),
    ] = None
    ray_cpus: Annotated[float, Meta(ge=0, description="`num_cpus` of a replica.")] = 1.0
    ray_resources: Annotated[
        dict[str, Amount], Meta(description="Custom resources that a replica takes, such as `{ TPU = 4 }`.")
    ] = {}
    ray_labels: Annotated[
        dict[str, str],
        Meta(description="Labels that the node of a replica must have, each as Ray's `label_selector` takes it."),
    ] = {}
