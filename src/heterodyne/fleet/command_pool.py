"""A pool whose replicas are an operator's command, wherever a driver runs it."""

from msgspec import Struct

from heterodyne.domain.errors import DriverRefused, InvalidSpec, ScalerConflict
from heterodyne.domain.fleet import Replica

STOP_TIMEOUT_S = 5.0


class CommandPool(Struct, frozen=True, kw_only=True):
    """How its replicas are started."""

    replica: Replica  # the picture of all; id and address are its own
    words: tuple[str, ...]  # with `{port}`, `{host}` and `{python}` where those belong
    health_path: str  # answers 200 once it takes work
    first: int  # replicas when nobody has asked for another count yet
    minimum: int  # fewer are never wanted: all of a pool that keeps its replicas
    maximum: int
    start_timeout_s: float
    stop_timeout_s: float = STOP_TIMEOUT_S  # to end by itself when it is told to


def check_count(pool: CommandPool, count: int, *, seen: int, wanted: int | None) -> None:
    """What every driver refuses; `wanted` is None where only the platform knows it."""
    place = f"pools.{pool.replica.pool}"
    if count < 0:
        raise InvalidSpec(f"{place}: {count} replicas; give 0 or more")
    if count > pool.maximum:
        raise DriverRefused(f"{place}: {count} replicas, and {pool.maximum} is the most that its settings allow")
    if wanted is not None and wanted != seen:
        raise ScalerConflict(f"{place}: {wanted} replicas are wanted by now, not {seen}")
