"""Settings of the endpoint picker."""

from typing import Annotated, Literal

from msgspec import Meta, Struct


class EndpointPickerSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where proxies ask for an endpoint (ext-proc over gRPC), and whom they may ask for."""

    listens: Annotated[
        bool, Meta(description="Whether proxies may ask here which replica to forward a request to.")
    ] = False
    host: Annotated[
        str,
        Meta(
            description="Address to listen on. Anything but loopback needs `tls_certificate`, or `is_plain` where the "
            "network is trusted."
        ),
    ] = "127.0.0.1"
    port: Annotated[
        int, Meta(ge=0, le=65535, description="Port to listen on; 0 takes a free one, for a single worker.")
    ] = 9002
    tls_certificate: Annotated[
        str | None, Meta(description="PEM file with the certificate chain that proxies are shown.")
    ] = None
    tls_key: Annotated[str | None, Meta(description="PEM file with the private key of `tls_certificate`.")] = None
    is_plain: Annotated[
        bool, Meta(description="Whether an address beyond loopback may be listened on without TLS.")
    ] = False
    access: Annotated[
        Literal["key", "proxy"],
        Meta(
            description="Who is let in: `key`, whoever the gateway itself would let in, or `proxy`, whoever the proxy "
            "forwards, as it has checked them by rules of its own."
        ),
    ] = "key"
    manifests: Annotated[
        str | None,
        Meta(
            description="A folder of YAML or JSON with InferencePools, InferenceObjectives and Pods, as `kubectl get "
            "-o yaml` prints them; pools take their replicas from it by `inference_pool`. Looked at every two seconds."
        ),
    ] = None
    objectives: Annotated[
        dict[str, int],
        Meta(
            description="Priorities by the name of an InferenceObjective, beside those in `manifests`: below 0 a "
            "request gives way first as the fleet fills, above 0 last."
        ),
    ] = {}
    streams_max: Annotated[
        int, Meta(ge=1, description="Requests that proxies may ask about at once, per worker; more are refused.")
    ] = 4096
    body_bytes_max: Annotated[
        int,
        Meta(
            ge=1024,
            description="One request body; more is answered 413. A proxy that buffers bodies has a bound of its own.",
        ),
    ] = 4194304
    heeds_conformance_headers: Annotated[
        bool,
        Meta(
            description="Whether the test headers of the published conformance suite are obeyed: callers may then "
            "choose replicas. For conformance runs alone."
        ),
    ] = False
