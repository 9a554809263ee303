"""A curve of rates becomes a log: requests by chance at each of its rates, with the lengths of another log."""

import csv
from collections.abc import Sequence
from pathlib import Path
from random import Random

from msgspec import structs

from heterodyne.domain.errors import InvalidSpec
from heterodyne.planning.traffic.trace_request import TraceRequest

REQUESTS_MAX = 5_000_000


def read_rates(path: Path) -> list[tuple[float, float]]:
    """Lines of `seconds,requests a second`, in order; one with other words is a header."""
    try:
        rows = list(csv.reader(path.read_text(encoding="utf-8").splitlines()))
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidSpec(f"{path}: cannot be read: {error}") from error
    rates: list[tuple[float, float]] = []
    for number, row in enumerate(rows, 1):
        try:
            at_s, rate = float(row[0]), float(row[1])
        except (IndexError, ValueError) as error:
            if number == 1:
                continue
            raise InvalidSpec(f"{path}, line {number}: give seconds and requests a second, as 600,12.5") from error
        if not rate >= 0 or (rates and at_s <= rates[-1][0]):
            raise InvalidSpec(f"{path}, line {number}: rates are 0 or more, times rise from line to line")
        rates.append((at_s, rate))
    if len(rates) < 2:
        raise InvalidSpec(f"{path}: a curve has two lines at least, each with seconds and requests a second")
    return rates


def drawn(rates: Sequence[tuple[float, float]], lengths: Sequence[TraceRequest], *, seed: int) -> list[TraceRequest]:
    """Each rate holds until the next; the last one as long as the one before it."""
    log: list[TraceRequest] = []
    chance = Random(seed)  # noqa: S311 (no secret)
    ends = [*(at_s for at_s, _ in rates[1:]), 2 * rates[-1][0] - rates[-2][0]]
    expected = sum(rate * (end_s - at_s) for (at_s, rate), end_s in zip(rates, ends, strict=True))
    if expected > REQUESTS_MAX:
        raise InvalidSpec(f"the curve has about {expected:,.0f} requests, and {REQUESTS_MAX:,} are the most")
    for (at_s, rate), end_s in zip(rates, ends, strict=True):
        next_s = at_s
        while rate > 0 and (next_s := next_s + chance.expovariate(rate)) < end_s:
            log.append(structs.replace(lengths[len(log) % len(lengths)], at_s=next_s))
    return log
