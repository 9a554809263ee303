"""What every question about a mix is made from: a log that the model can hold, a rate, and chips to choose from."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from heterodyne.domain.errors import InvalidSpec
from heterodyne.physics.catalogue import accelerator
from heterodyne.physics.hardware import Accelerator
from heterodyne.physics.model_spec import ModelSpec
from heterodyne.planning.traffic.trace_request import TraceRequest
from heterodyne.planning.traffic.traffic_profile import traffic_profile

PEAK, MEAN = "peak", "mean"


class FittingLog(Struct, frozen=True, kw_only=True):
    """The requests that a model can hold, and how many others there were."""

    arrivals: tuple[TraceRequest, ...]
    too_long: int


def within_context(log: Sequence[TraceRequest], spec: ModelSpec) -> FittingLog:
    """Longer ones cannot be planned for."""
    short = tuple(one for one in log if one.prompt_tokens + max(1, one.output_tokens) <= spec.context_tokens)
    return FittingLog(arrivals=short, too_long=len(log) - len(short))


def rate_of(word: str, log: Sequence[TraceRequest]) -> float:
    """Of the busiest minute of the log, of all of it, or a number of requests per second."""
    if word in (PEAK, MEAN):
        profile = traffic_profile(log)
        return profile.peak_requests_per_s if word == PEAK else profile.requests_per_s
    try:
        return float(word)
    except ValueError as error:
        raise InvalidSpec(f'rate: "{word}" is neither "peak", "mean" nor a number of requests per second.') from error


def offered(names: Iterable[str] | None, known: Mapping[str, Accelerator]) -> Mapping[str, Accelerator]:
    """Those that are named, by name or alias; all of them where none is named."""
    if names is None:
        return known
    chosen = {chip.name: chip for chip in (accelerator(name, known) for name in names)}
    if not chosen:
        raise InvalidSpec("hardware: no accelerator is named; leave the option out to offer the whole catalogue.")
    return chosen
