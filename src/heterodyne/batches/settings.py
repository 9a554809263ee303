"""Settings of batches."""

from typing import Annotated

from msgspec import Meta, Struct


class BatchSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How large piles of work may be, and how long they may wait."""

    is_on: Annotated[
        bool, Meta(description="Whether this gateway works on batches; they are taken in either case.")
    ] = True
    lines_max: Annotated[int, Meta(ge=1, le=1_000_000, description="Requests that one batch may have.")] = 50_000
    window_max_hours: Annotated[
        int, Meta(ge=1, le=24 * 30, description="The longest `completion_window` that a batch may ask for.")
    ] = 168
    running_max: Annotated[
        int,
        Meta(
            ge=1,
            le=1000,
            description="Batches that are worked on at once, a quarter of them at most of one project; others wait.",
        ),
    ] = 32
    price_by_tier: Annotated[
        dict[str, Annotated[float, Meta(ge=0, le=1)]],
        Meta(
            description="By tier (`gold`, `silver`, `bronze`), what requests of the class `batch` cost on replicas "
            "that are paid by the hour, as a share of what others cost: 0.5 is half. A tier that is not named pays "
            "in full."
        ),
    ] = {}
