"""Settings of the audit log."""

from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta, Struct


class AuditSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is audited, where, and what happens when it cannot be."""

    is_on: Annotated[bool, Meta(description="Whether requests are audited; changes by operators are in any case.")] = (
        False
    )
    dir: Annotated[str | None, Meta(description="Folder of the log; absent, `audit` in the state folder.")] = None
    regions: Annotated[
        tuple[Annotated[str, Meta(min_length=1)], ...],
        Meta(
            description="All regions that the log rests in, wherever it is copied; empty: where the gateway is. Of a "
            "key that is held to other regions it has hashes alone, whatever its project says of content."
        ),
    ] = ()
    key_file: Annotated[
        str | None,
        Meta(
            description="File of the secret key, made on first use; absent, `audit.key` in the log's folder. "
            "Keep a copy: without it the log cannot be verified."
        ),
    ] = None
    segment_bytes_max: Annotated[
        int, Meta(ge=4096, description="A segment this large is closed and the next one begun.")
    ] = 67108864
    fsync: Annotated[
        bool, Meta(description="Whether each batch is on the disk before it counts; without, only a crash is survived.")
    ] = True
    anchor_file: Annotated[
        str | None, Meta(description="File that anchors are appended to; it should lie on another machine.")
    ] = None
    anchor_command: Annotated[
        tuple[str, ...], Meta(description="Command that is run with each anchor, a JSON line, on its standard input.")
    ] = ()
    anchor_timeout_s: Annotated[float, Meta(gt=0, le=300, description="Time after which the command is killed.")] = 30.0
    anchor_every_entries: Annotated[int, Meta(ge=1, description="Entries after which an anchor is written.")] = 1000
    anchor_every_s: Annotated[
        float, Meta(ge=1, description="Seconds after which one is, when there is any new entry.")
    ] = 60.0
    when_full: Annotated[
        Literal["refuse", "drop"],
        Meta(
            description="When entries cannot be kept: `refuse` new requests, or `drop` entries and say in the log how "
            "many requests have none."
        ),
    ] = "refuse"
    queue_entries_max: Annotated[
        int, Meta(ge=16, description="Entries that wait in a worker's memory to be hashed and spooled.")
    ] = 65536
    queue_bytes_max: Annotated[int, Meta(ge=65536, description="Prompts and answers that wait with them.")] = 134217728
    spool_bytes_max: Annotated[
        int, Meta(ge=65536, description="What one worker may have spooled that nobody has collected.")
    ] = 268435456
    content_chars_max: Annotated[
        int, Meta(ge=0, le=262144, description="Characters of a prompt or an answer that are kept where content is.")
    ] = 65536


def folder_of(settings: AuditSettings, state_dir: Path) -> Path:
    """Where the log is."""
    return state_dir / "audit" if settings.dir is None else Path(settings.dir).expanduser()


def key_file_of(settings: AuditSettings, folder: Path) -> Path:
    """Where its key is."""
    return folder / "audit.key" if settings.key_file is None else Path(settings.key_file).expanduser()


def spool_folder(folder: Path) -> Path:
    """Where workers leave what the supervisor collects."""
    return folder / "spool"
