"""Settings of the autoscaler; what each pool may do is in its own `autoscaling` table."""

from typing import Annotated, Literal

from msgspec import Meta, Struct


class ScalingSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Pools that grow and shrink by themselves: those with an `autoscaling` table."""

    mode: Annotated[
        Literal["off", "dry-run", "act"],
        Meta(
            description="Whether the autoscaler looks at all, only says what it would do, or does it. `heterodyne "
            "scale explain` has its decisions either way."
        ),
    ] = "dry-run"
    interval_s: Annotated[float, Meta(ge=1, le=60, description="Between two looks.")] = 5.0
    share: Annotated[
        float, Meta(gt=0, lt=1, description="Of requests that are promised their SLO, to be kept by enough replicas.")
    ] = 0.99
    spare: Annotated[
        int, Meta(ge=0, le=64, description="Replicas of each model beyond what is needed, for steps nobody foresees.")
    ] = 0
    headroom: Annotated[
        float,
        Meta(
            ge=0,
            le=10,
            description="Of what is needed, so much more is kept: `0.2` carries a fifth more than comes. It is what "
            "bears the first minutes of a step, until replicas that are asked for then are ready, and is paid for at "
            "all times.",
        ),
    ] = 0.0
    budget_usd_per_hour: Annotated[
        Annotated[float, Meta(ge=0)] | None,
        Meta(description="What all replicas of one model may cost; absent, `maximum` of its pools is the only bound."),
    ] = None
    idle_s: Annotated[
        float, Meta(ge=1, description="Without a request for so long, pools with `minimum = 0` are emptied.")
    ] = 900.0
    drain_timeout_s: Annotated[
        float,
        Meta(gt=0, description="A replica that is given up ends what it has within this time; then it is ended."),
    ] = 600.0
    speed: Annotated[
        float,
        Meta(
            ge=1,
            le=1000,
            description="For rehearsals of a day that is pressed into minutes: so many times faster than the clock on "
            "the wall the autoscaler's own windows pass. What is said in seconds here and of pools stays as it is.",
        ),
    ] = 1.0
    forecasts: Annotated[
        bool, Meta(description="Whether the usual of the time of day and of the weekday sets a floor.")
    ] = True
