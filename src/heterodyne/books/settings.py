"""Settings of the books."""

from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

HISTORY_DAYS = 14
SPOOL_BYTES_MAX = 4 << 30


class BookSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whether usage is written down, where it waits for the database, and how long single requests are kept."""

    is_on: Annotated[bool, Meta(description="Whether every request leaves a record of what it used and cost.")] = True
    spool_dir: Annotated[
        str | None,
        Meta(
            description="Folder on a local disk where records wait for the database; absent, `spool` in the state "
            "folder. Gateways with databases of their own need folders of their own."
        ),
    ] = None
    spool_bytes_max: Annotated[
        int,
        Meta(
            ge=1 << 20, description="What may wait there; when it is full, requests that would be billed are refused."
        ),
    ] = SPOOL_BYTES_MAX
    slots_max: Annotated[
        int,
        Meta(ge=64, le=1 << 20, description="Requests that one worker may have in flight; each takes 2 KiB of disk."),
    ] = 8192
    retention_days: Annotated[
        int,
        Meta(ge=0, description="Days after which the records of single requests go; sums by day stay. 0 keeps them."),
    ] = 90
    history_days: Annotated[
        int,
        Meta(
            ge=1,
            le=3660,
            description="Days after which sums by the minute go, which the console's charts are made of; sooner where "
            "there are more than 500,000 rows of them.",
        ),
    ] = HISTORY_DAYS


def spool_folder_of(settings: BookSettings, state_dir: Path) -> Path:
    """Where records wait."""
    return state_dir / "spool" if settings.spool_dir is None else Path(settings.spool_dir).expanduser()
