"""Batches that never were, for pictures. Those that are not over are held by a gateway that is nowhere, so that none
works on them."""

from typing import Final

from heterodyne.batches.batch import Batch, BatchCounts, BatchProblem, BatchStatus, BatchTokens
from heterodyne.ports.document_store import DocumentStore
from tests.support.stored_batches import a_batch, put_batch

HOUR_S: Final = 3600.0
PROJECT: Final = "acme/batch"


async def write_past_batches(store: DocumentStore, now: float) -> None:
    """Some that go on, and some that have ended."""
    for number, (batch, ago_s) in enumerate((*_open(now), *_ended(now))):
        await put_batch(store, batch, created_at=now - ago_s + number, held_until=now + 20 * HOUR_S)


def _open(now: float) -> list[tuple[Batch, float]]:
    some = BatchCounts(total=5000, completed=1247, failed=3)
    many = BatchCounts(total=48_000, completed=9120)
    in_time, too_late = now + 1.5 * HOUR_S, now + 2 * HOUR_S + 2400.0
    return [
        (_batch(1, counts=many, expires_at=now + 2 * HOUR_S, expected_at=too_late, project="globex/support"), 7200.0),
        (_batch(2, counts=some, expires_at=now + 23 * HOUR_S, expected_at=in_time), 1800.0),
        (_batch(3, BatchStatus.CANCELLING, counts=some, expires_at=now + 23 * HOUR_S), 1500.0),
        (_batch(4, BatchStatus.VALIDATING, expires_at=now + 24 * HOUR_S), 30.0),
    ]


def _ended(now: float) -> list[tuple[Batch, float]]:
    problem = BatchProblem(code="input_file_gone", message="The input file 'file-5f2c9a1b' is not there.")
    tokens = BatchTokens(input=4_210_000, output=812_000)
    whole, part = BatchCounts(total=2000, completed=1996, failed=4), BatchCounts(total=8000, completed=5100)
    return [
        (_batch(5, BatchStatus.COMPLETED, at=now - 600, counts=whole, tokens=tokens), 4000.0),
        (_batch(6, BatchStatus.FAILED, at=now - 5000, problems=(problem,)), 5005.0),
        (_batch(7, BatchStatus.EXPIRED, at=now - 9000, counts=part, unanswered=2900, tokens=tokens), 95_000.0),
    ]


def _batch(number: int, status: BatchStatus = BatchStatus.IN_PROGRESS, **other: object) -> Batch:
    values = {"project": PROJECT, **other}
    return a_batch(f"batch_{number * 0x1F3D5B79:08x}" + "0" * 40, status, **values)  # type: ignore[arg-type]
