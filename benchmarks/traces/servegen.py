"""ServeGen's tenants: rate and burstiness of each for every ten minutes, histograms of lengths for every six hours.

Requests are drawn from those: gaps of a tenant from its Gamma or Weibull distribution with the mean that its rate says,
lengths from its histograms. Tenants without histograms are left out, as the archive has none for them.
"""

import csv
import io
import tarfile
from bisect import bisect
from collections.abc import Iterator
from heapq import merge
from itertools import accumulate, islice
from math import gamma
from pathlib import Path
from random import Random

import msgspec
from msgspec import Struct

from heterodyne.domain.errors import InvalidSpec
from heterodyne.planning.traffic.trace_request import TraceRequest

LENGTHS_S = 21_600  # what a histogram is of
TENANTS_MIN = 8  # who must be there at a time for it to be a mix


class Pace(Struct, frozen=True):
    """Of one tenant in ten minutes."""

    rate: float
    distribution: str
    shape: float


class Tenant(Struct, frozen=True):
    """What is known of one."""

    paces: dict[int, Pace]  # by the second that they begin at; none where it is quiet
    lengths: dict[str, dict[str, str]]  # by the second too: histograms as text

    def speaks_at(self, at_s: int) -> bool:
        """Whether both are known."""
        lengths = self.lengths.get(str(at_s // LENGTHS_S * LENGTHS_S), {})
        return at_s in self.paces and all(lengths.get(name, "{}") != "{}" for name in ("input_tokens", "output_tokens"))


class ServeGen:
    """The whole archive."""

    def __init__(self, path: Path) -> None:
        self._tenants = _read(path)
        moments = sorted({at_s for tenant in self._tenants for at_s in tenant.paces})
        self._moments = [
            at_s for at_s in moments if sum(tenant.speaks_at(at_s) for tenant in self._tenants) >= TENANTS_MIN
        ]

    def sample(self, seed: int, requests: int) -> list[TraceRequest]:
        """So many requests of ten minutes that the seed chooses, as they might have come."""
        chance = Random(f"servegen {seed}")
        at_s = chance.choice(self._moments)
        streams = [_stream(tenant, at_s, chance) for tenant in self._tenants if tenant.speaks_at(at_s)]
        return list(islice(merge(*streams, key=lambda one: one.at_s), requests))


def _read(path: Path) -> list[Tenant]:
    paces: dict[str, dict[int, Pace]] = {}
    lengths: dict[str, dict[str, dict[str, str]]] = {}
    try:
        with tarfile.open(path, "r:xz") as archive:
            for member in archive:
                file = archive.extractfile(member)
                name, _, ending = Path(member.name).name.rpartition("-")
                if file is not None and ending == "trace.csv":
                    paces[name] = _paces(file.read().decode())
                elif file is not None and ending == "dataset.json":
                    lengths[name] = msgspec.json.decode(file.read(), type=dict[str, dict[str, str]])
    except (OSError, tarfile.TarError) as error:
        raise InvalidSpec(f"{path}: cannot be read: {error}; say with --data where the shared data is") from error
    return [Tenant(paces[name], lengths[name]) for name in sorted(paces) if name in lengths]


def _paces(text: str) -> dict[int, Pace]:
    return {
        int(begin_s): Pace(float(rate), distribution, float(shape))
        for begin_s, rate, _, distribution, shape, _ in csv.reader(io.StringIO(text))
        if distribution
    }


def _stream(tenant: Tenant, at_s: int, chance: Random) -> Iterator[TraceRequest]:
    pace = tenant.paces[at_s]
    lengths = tenant.lengths[str(at_s // LENGTHS_S * LENGTHS_S)]
    prompt, output = _Histogram(lengths["input_tokens"]), _Histogram(lengths["output_tokens"])
    now_s = 0.0
    while True:
        now_s += _gap(pace, chance) / pace.rate
        yield TraceRequest(
            at_s=now_s, prompt_tokens=max(1, prompt.draw(chance)), output_tokens=max(1, output.draw(chance))
        )


def _gap(pace: Pace, chance: Random) -> float:
    """With a mean of one."""
    if pace.distribution == "Weibull":
        return chance.weibullvariate(1.0 / gamma(1.0 + 1.0 / pace.shape), pace.shape)
    return chance.gammavariate(pace.shape, 1.0 / pace.shape)


class _Histogram:
    """Written as `{length: share, …}`."""

    def __init__(self, text: str) -> None:
        pairs = [one.split(":") for one in text.strip("{}").split(",")]
        self._lengths = [int(length) for length, _ in pairs]
        self._sums = list(accumulate(float(share) for _, share in pairs))

    def draw(self, chance: Random) -> int:
        place = bisect(self._sums, chance.random() * self._sums[-1])
        return self._lengths[min(place, len(self._lengths) - 1)]
