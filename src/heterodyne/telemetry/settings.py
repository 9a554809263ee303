"""Settings of logs and records."""

from typing import Annotated, Literal

from msgspec import Meta, Struct


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
