"""What is said of a pool that may grow and shrink: its `autoscaling` table, in settings and in fleet files alike."""

from typing import Annotated

from msgspec import Meta, Struct

REPLICAS_MAX = 256


class PoolScaling(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One pool's. What a replica carries is measured, with `heterodyne bench` or `calibrate`; `scale plan` simulates it
    instead."""

    minimum: Annotated[int, Meta(ge=0, le=REPLICAS_MAX)] = 1  # 0: requests are held while one starts
    maximum: Annotated[int, Meta(ge=1, le=REPLICAS_MAX)] = 16
    cold_start_s: Annotated[float, Meta(gt=0)] = 120.0  # from asking for a replica to its first request
    cold_start_spread: Annotated[float, Meta(ge=0, le=1)] = 0.1  # of its logarithm, for simulations
    loss_per_hour: Annotated[float, Meta(ge=0, lt=1)] = 0.0  # the chance that a spot replica is taken away
    requests_per_s: Annotated[float, Meta(gt=0)] | None = None  # that one replica carries within the promise
    prompt_tokens: Annotated[float, Meta(ge=0)] = 512.0  # of those requests
    output_tokens: Annotated[float, Meta(gt=0)] = 256.0  # of their answers
    memory_gib: Annotated[float, Meta(gt=0)] | None = None  # of this machine that a replica takes; None: as measured
