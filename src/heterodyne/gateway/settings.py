"""Settings of the data-plane door."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from heterodyne.domain.tls_files import TlsFiles
from heterodyne.wire.tls.contexts import TlsVersion

Seconds = Annotated[float, Meta(gt=0, le=86400)]


class GatewaySettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the gateway listens, and the limits that hold before a request is understood."""

    host: Annotated[
        str,
        Meta(description="Address to listen on. Anything but loopback needs keys."),
    ] = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65535, description="Port to listen on; 0 takes a free one.")] = 8080
    host_names: Annotated[
        tuple[str, ...],
        Meta(description="Names besides loopback's that a keyless gateway answers to; with keys it answers to any."),
    ] = ()
    metrics_access: Annotated[
        Literal["open", "key"],
        Meta(
            description="Who gets `/metrics`: `open` is everybody who reaches the port, with the names of tenants only "
            "for this machine and for keys of the settings; `key` is whoever brings a key, on this machine too."
        ),
    ] = "open"
    workers: Annotated[int, Meta(ge=1, le=256, description="Processes that share the port.")] = 1
    tls_certificate: Annotated[
        str | None, Meta(description="PEM file with the certificate chain; serves HTTPS when set.")
    ] = None
    tls_key: Annotated[str | None, Meta(description="PEM file with the private key of `tls_certificate`.")] = None
    tls_version_min: Annotated[TlsVersion, Meta(description="The oldest version of TLS that is spoken.")] = "1.2"
    tls_client_authorities: Annotated[
        str | None,
        Meta(
            description="PEM file with the authorities whose client certificates are believed; clients are asked for "
            "one when set. `admission.certificates` says whose they are."
        ),
    ] = None
    tls_client_revoked: Annotated[
        str | None,
        Meta(
            description="PEM file with the authorities' lists of revoked certificates (CRL); one is needed of each, "
            "and a list that is out of date has every certificate refused."
        ),
    ] = None
    tls_client_certificates: Annotated[
        Literal["optional", "required"],
        Meta(
            description="Whether a request without a client certificate is refused, even if it brings a key; health, "
            "metrics and other open pages are not."
        ),
    ] = "optional"
    connections_max: Annotated[
        int,
        Meta(
            ge=1,
            description="Open client connections per worker; one more takes the place of an idle one, or is answered "
            "503 where all are busy.",
        ),
    ] = 4096
    head_bytes_max: Annotated[
        int,
        Meta(ge=1024, le=1 << 20, description="Request line and headers together, or trailers; more is answered 431."),
    ] = 32768
    headers_max: Annotated[
        int, Meta(ge=8, le=1000, description="Number of headers, or of trailers; more is answered 431.")
    ] = 100
    body_bytes_max: Annotated[
        int, Meta(ge=1024, description="One request body that is no file; more is answered 413.")
    ] = 33554432
    file_bytes_max: Annotated[
        int, Meta(ge=1024, description="One file that is sent to `/v1/files`; more is answered 413.")
    ] = 536870912
    files_url: Annotated[
        str | None,
        Meta(
            description="Where files are kept: a folder, or as in s3://bucket/files (through fsspec), for all gateways "
            "of one `stores.url` and for no others; absent, in this user's state folder, or beside the SQLite file "
            "that `stores.url` names."
        ),
    ] = None
    files_regions: Annotated[
        tuple[Annotated[str, Meta(min_length=1)], ...],
        Meta(
            description="All regions that files are kept in; empty: where the gateway is. A key that is held to other "
            "regions can send no file and have no batch."
        ),
    ] = ()
    bodies_bytes_max: Annotated[
        int, Meta(ge=1024, description="All request bodies held by one worker; more is answered 503.")
    ] = 536870912
    answer_bytes_max: Annotated[
        int, Meta(ge=1024, description="One whole answer from an engine; more is answered 502.")
    ] = 67108864
    event_bytes_max: Annotated[
        int,
        Meta(
            ge=16384,
            description="One event of an engine's stream; a larger one ends the answer. Others wait while it is looked "
            "at, some 5 ms for each mebibyte: raise it for models that put pictures or sound into one event.",
        ),
    ] = 524288
    cache_bytes_max: Annotated[
        int,
        Meta(
            ge=0,
            description="Memory of one worker for answers that policies of `[caches]` keep; those that were not asked "
            "for the longest give way.",
        ),
    ] = 67108864
    head_timeout_s: Annotated[
        Seconds,
        Meta(
            description="A request head must be complete in this time, else 408; a new connection that says nothing "
            "is closed then."
        ),
    ] = 10.0
    body_timeout_s: Annotated[
        Seconds,
        Meta(
            description="A request body must be complete in this time, else 408; of one with a file, each 256 KiB must."
        ),
    ] = 60.0
    idle_timeout_s: Annotated[
        Seconds, Meta(description="A client connection with no request on it is closed after this time.")
    ] = 75.0
    write_timeout_s: Annotated[
        Seconds, Meta(description="A client that takes none of its answer for this long is disconnected.")
    ] = 60.0
    deadline_default_s: Annotated[
        Seconds, Meta(description="Deadline of a request that brings no `x-heterodyne-deadline-ms`.")
    ] = 600.0
    deadline_max_s: Annotated[Seconds, Meta(description="The longest deadline a request may ask for.")] = 3600.0
    connect_timeout_s: Annotated[Seconds, Meta(description="Connecting to a replica.")] = 5.0
    first_byte_timeout_s: Annotated[
        Seconds,
        Meta(description="A replica must begin its answer in this time, queueing and prefill included."),
    ] = 300.0
    stall_timeout_s: Annotated[
        Seconds, Meta(description="The longest silence of a replica in the middle of an answer.")
    ] = 60.0
    continues_streams: Annotated[
        bool,
        Meta(description="Whether a stream whose replica fails goes on elsewhere from the words already sent."),
    ] = True
    continuation_bytes_max: Annotated[
        int,
        Meta(ge=0, description="Sent events one worker remembers for that; beyond it the longest streams are let go."),
    ] = 67108864
    decisions_kept: Annotated[
        int,
        Meta(
            ge=0,
            le=1_000_000,
            description="Latest decisions each worker keeps for `heterodyne explain --request`, of usual requests 100 "
            "a second at most; 0 keeps none.",
        ),
    ] = 1000
    engine_connections_idle_max: Annotated[
        int, Meta(ge=0, le=65536, description="Idle connections kept open to each replica.")
    ] = 256
    drain_timeout_s: Annotated[
        Seconds, Meta(description="On SIGTERM, how long streams in flight may take to finish.")
    ] = 30.0
    output_tokens_max: Annotated[int, Meta(ge=1, description="The largest `max_tokens` a client may ask for.")] = (
        1048576
    )
    messages_max: Annotated[int, Meta(ge=1, description="Messages of one conversation.")] = 16384
    tools_max: Annotated[int, Meta(ge=0, description="Tools that one conversation may name.")] = 1024
    prompts_max: Annotated[
        int, Meta(ge=1, description="Texts or lists of token ids in one completion or embedding request.")
    ] = 2048
    prompt_ids_max: Annotated[
        int, Meta(ge=1, description="Token ids in one request; what a model's context cannot hold is refused anyway.")
    ] = 4194304
    choices_max: Annotated[
        int, Meta(ge=1, le=1024, description="The largest `n` or `best_of` a client may ask for.")
    ] = 16
    sequences_max: Annotated[
        int,
        Meta(
            ge=1,
            le=65536,
            description="Answers that one request may have generated: prompts times the larger of `n` and `best_of`.",
        ),
    ] = 128
    stored_days: Annotated[
        float,
        Meta(
            gt=0,
            le=36500,
            description="For how many days responses, conversations and stored chat completions are kept after they "
            "were last used, and files after they were sent.",
        ),
    ] = 30.0

    @property
    def tls_files(self) -> TlsFiles:
        """Those of the door."""
        return TlsFiles(
            certificate=self.tls_certificate,
            key=self.tls_key,
            authorities=self.tls_client_authorities,
            revoked=self.tls_client_revoked,
        )
