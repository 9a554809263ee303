"""Settings of pools whose replicas a Kubernetes cluster knows."""

from typing import Annotated

from msgspec import Meta, Struct

LABEL_VALUE = r"^[a-z0-9][-a-z0-9]{0,62}$"
Name = Annotated[str, Meta(pattern=LABEL_VALUE)]
Label = Annotated[str, Meta(min_length=1, max_length=316)]


class KubernetesPoolSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where a pool's pods are found, and which labels say what they are."""

    kubernetes_namespace: Annotated[
        Name | None,
        Meta(
            description="Namespace of the replicas of a pool with `discover`; absent, the gateway's own, or that of "
            "the kubeconfig's context."
        ),
    ] = None
    kubernetes_service: Annotated[
        Name | None,
        Meta(
            description="Service whose EndpointSlices list the replicas: each ready endpoint is called by itself, not "
            "by the Service's address."
        ),
    ] = None
    kubernetes_selector: Annotated[
        Annotated[str, Meta(min_length=1)] | None,
        Meta(description="In place of a Service, the label selector of the pods, as `kubectl get pods -l` takes it."),
    ] = None
    kubernetes_port: Annotated[
        Annotated[str, Meta(min_length=1)] | None,
        Meta(description="Name or number of the port that is called; absent, there must be one alone."),
    ] = None
    kubernetes_workload: Annotated[
        Annotated[str, Meta(pattern=r"^(deployment|statefulset|leaderworkerset)/[a-z0-9][-a-z0-9.]{0,252}$")] | None,
        Meta(
            description="What the autoscaler scales, as `deployment/NAME`, `statefulset/NAME` or "
            "`leaderworkerset/NAME`: the pods that the Service or the selector chooses must be its own alone."
        ),
    ] = None
    kubernetes_tls: Annotated[
        bool, Meta(description="Whether the pods speak TLS; their certificates must name the pods' addresses.")
    ] = False
    kubernetes_reads_nodes: Annotated[
        bool,
        Meta(
            description="Whether nodes are read for what pods do not say: accelerator and region. That takes the right "
            "to get nodes, which a ClusterRole gives."
        ),
    ] = True
    kubernetes_hardware_label: Annotated[
        Label | None,
        Meta(
            description="Label of a pod or its node that names the accelerator. Absent, those that the makers' own "
            "labellers write, such as `nvidia.com/gpu.product`."
        ),
    ] = None
    kubernetes_region_label: Annotated[
        Label, Meta(description="Label of a pod or its node that is the replica's region.")
    ] = "topology.kubernetes.io/region"
    kubernetes_version_label: Annotated[
        Label, Meta(description="Label of a pod that is the version of its weights; `version` where it has none.")
    ] = "app.kubernetes.io/version"
    kubernetes_labels: Annotated[
        tuple[Label, ...], Meta(description="Labels of a pod that its replica has too, beside `labels`.")
    ] = ()
