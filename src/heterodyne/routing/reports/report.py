"""What one worker tells those of other gateways: what it has in flight where, whom it avoids, what it has learned.

A report is the whole truth of its sender, small and made anew several times a second, so that a lost one costs nothing.
Replicas go by the key of their engine, for ids are each gateway's own.
"""

from functools import lru_cache
from hashlib import sha256
from math import isfinite

import msgspec
from msgspec import Struct, structs

from heterodyne.domain.fleet import Replica

REPORT_BYTES_MAX = 256 << 10
REPLICAS_MAX = 3000  # that the worker has sent something; those with the least in flight are left out
POOLS_MAX = 200
EJECTIONS_MAX = 500
KEY_BYTES = 8
KEYS_KEPT = 4096
LOOPBACK = ("127.", "localhost", "::1", "[::1]")


class ReplicaLoad(Struct, frozen=True, array_like=True, gc=False):
    """What one worker, or all others together, have in flight on one replica."""

    in_flight: int = 0
    waiting: int = 0  # of them without a first token
    patient: int = 0  # of them, of batch and background work
    waiting_tokens: float = 0.0  # uncached prompt tokens of those that wait
    context_tokens: float = 0.0  # held by all of them
    backlog_s: float = 0.0  # until the prompts that wait would be done, were they alone
    work_done_s: float = 0.0  # of prompts computed there for this worker, ever, in seconds by the prior


class LearnedSpeed(Struct, frozen=True, array_like=True, gc=False):
    """What has been found of one pool, in multiples of what physics says."""

    samples: int
    ttft_factors: tuple[float, float, float]
    itl_factors: tuple[float, float, float, float]
    answer_tokens: float
    prompt_rate: float  # seconds of prompts a second that this worker sends it


class WorkerReport(Struct, frozen=True, array_like=True):
    """The whole of it."""

    loads: dict[str, ReplicaLoad] = {}  # by the engine's key
    ejections: dict[str, float] = {}  # seconds left, by the engine's key: those that it has found out itself
    speeds: dict[str, LearnedSpeed] = {}  # by the pool's key


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(WorkerReport).decode


def encode(report: WorkerReport) -> bytes:
    """A message of bounded size: what would be too much is what matters least."""
    loads = report.loads
    if len(loads) > REPLICAS_MAX:
        most = sorted(loads.items(), key=lambda pair: (-pair[1].in_flight, pair[0]))[:REPLICAS_MAX]
        loads = dict(most)
    body = _encode(
        WorkerReport(
            loads=loads,
            ejections=dict(list(report.ejections.items())[:EJECTIONS_MAX]),
            speeds=dict(list(report.speeds.items())[:POOLS_MAX]),
        )
    )
    assert len(body) <= REPORT_BYTES_MAX, "the bounds of its parts keep it below"
    return body


def decode(body: bytes) -> WorkerReport:
    """Raises `ValueError` where it is no report, or one that no worker would send."""
    if len(body) > REPORT_BYTES_MAX:
        raise ValueError(f"a report of {len(body)} bytes; {REPORT_BYTES_MAX} are the most")
    report = _decode(body)
    for load in report.loads.values():
        _check_amounts(structs.astuple(load))
        if load.waiting > load.in_flight or load.patient > load.in_flight:
            raise ValueError("a load of which a part is more than the whole")
    _check_amounts(tuple(report.ejections.values()))
    for one in report.speeds.values():
        _check_amounts((one.samples, *one.ttft_factors, *one.itl_factors, one.answer_tokens, one.prompt_rate))
    return report


def engine_key(replica: Replica, machine: str) -> str:
    """What an engine goes by in all gateways: where it listens and what it serves. An address of this machine alone is
    another engine on every `machine`."""
    return _engine_key(machine, replica.host, replica.port, replica.base_path, replica.model)


def pool_key(replica: Replica) -> str:
    """What the pool of a replica goes by: gateways whose settings differ do not mix their speeds."""
    parts = (replica.pool, replica.model, replica.hardware, str(replica.tp), replica.engine, replica.version)
    return _digest(*(part or "" for part in parts))


def _check_amounts(amounts: tuple[float, ...]) -> None:
    # One sum is a number only if all of them are.
    if amounts and not (isfinite(sum(amounts)) and min(amounts) >= 0.0):
        raise ValueError("an amount that is no number, or below nothing")


@lru_cache(maxsize=KEYS_KEPT)
def _engine_key(machine: str, host: str, port: int, base_path: str, model: str) -> str:
    return _digest(machine if host.startswith(LOOPBACK) else "", host, str(port), base_path, model)


def _digest(*parts: str) -> str:
    return sha256("\0".join(parts).encode()).hexdigest()[: 2 * KEY_BYTES]
