"""A log of requests as a histogram over prompt and output lengths, in bins that hold about as many requests each."""

from bisect import bisect_left
from collections.abc import Sequence

from msgspec import Struct

from heterodyne.domain.errors import InvalidSpec
from heterodyne.planning.traffic.request_shape import RequestShape
from heterodyne.planning.traffic.trace_request import TraceRequest

BINS_MAX = 10  # on each axis; a hundred buckets are solved in a second


class Cell(Struct, frozen=True, kw_only=True):
    """Requests of similar lengths."""

    name: str
    shape: RequestShape  # the mean of its requests, so that tokens are neither lost nor won
    share: float  # of all requests


def histogram(log: Sequence[TraceRequest], *, bins: int) -> list[Cell]:
    """The cells that hold requests, short prompts first."""
    if not 1 <= bins <= BINS_MAX:
        raise InvalidSpec(f"buckets: {bins} bins on each axis is not a number from 1 to {BINS_MAX}.")
    if not log:
        raise InvalidSpec("A histogram needs at least 1 request; the log has none.")
    prompts = _Axis([arrival.prompt_tokens for arrival in log], bins)
    outputs = _Axis([max(1, arrival.output_tokens) for arrival in log], bins)
    cells: dict[tuple[int, int], list[TraceRequest]] = {}
    for arrival in log:
        place = prompts.bin(arrival.prompt_tokens), outputs.bin(max(1, arrival.output_tokens))
        cells.setdefault(place, []).append(arrival)
    return [
        Cell(
            name=f"prompt {prompts.range(row)} output {outputs.range(column)}",
            shape=_mean(cells[row, column]),
            share=len(cells[row, column]) / len(log),
        )
        for row, column in sorted(cells)
    ]


class _Axis:
    """Bins by quantile: each ends at a length, itself included."""

    def __init__(self, counts: Sequence[int], bins: int) -> None:
        ordered = sorted(counts)
        last = len(ordered) - 1
        self._ends = sorted({ordered[min(last, len(ordered) * part // bins)] for part in range(1, bins + 1)})
        self._least = ordered[0]

    def bin(self, count: int) -> int:
        return bisect_left(self._ends, count)

    def range(self, place: int) -> str:
        least = self._ends[place - 1] + 1 if place else self._least
        return str(least) if least == self._ends[place] else f"{least}-{self._ends[place]}"


def _mean(requests: Sequence[TraceRequest]) -> RequestShape:
    return RequestShape(
        prompt_tokens=sum(one.prompt_tokens for one in requests) / len(requests),
        output_tokens=sum(max(1, one.output_tokens) for one in requests) / len(requests),
    )
