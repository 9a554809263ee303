"""Settings of logs, records and traces."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

INSTALL_OTEL = "pip install 'heterodyne[otel]'"  # traces need it, and the base install leaves it out


class TelemetrySettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is written down, and where."""

    log_level: Annotated[
        Literal["debug", "info", "warning", "error"],
        Meta(description="The least severe event that is logged."),
    ] = "info"
    log_format: Annotated[
        Literal["auto", "text", "json"],
        Meta(description="`text` for people, `json` for machines; `auto` is text on a terminal."),
    ] = "auto"
    records: Annotated[
        str,
        Meta(description="One line per request: `log` puts it into the log, `off` drops it, a path gets it as JSON."),
    ] = "log"
    records_bytes_max: Annotated[
        int,
        Meta(ge=65536, description="A record file this large is moved to `<path>.1`, replacing the last one."),
    ] = 268435456
    traces_url: Annotated[
        str,
        Meta(
            description="Where spans are sent by OTLP over HTTP, such as `http://127.0.0.1:4318/v1/traces`; empty: "
            "nobody is traced. Needs `heterodyne[otel]`."
        ),
    ] = ""
    traces_headers_env: Annotated[
        str,
        Meta(
            description="An environment variable with headers for the collector, as `key=value,key=value`; empty: none."
        ),
    ] = ""
    traces_sample_ratio: Annotated[
        float,
        Meta(
            ge=0,
            le=1,
            description="The share of requests whose trace is kept whatever happens to them. A client that sends a "
            "`traceparent` has decided for itself.",
        ),
    ] = 0.01
    traces_slow_ms: Annotated[
        float,
        Meta(
            ge=0,
            description="A trace is also kept when its client waited longer than this for the first token; `0`: no "
            "request is slow. Traces with a failure are always kept.",
        ),
    ] = 2000.0
    traces_per_second_max: Annotated[
        float,
        Meta(ge=1, le=10000, description="The most traces that one worker keeps in a second, for whatever reason."),
    ] = 100.0
