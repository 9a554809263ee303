"""Prices of whole batches asked for the first token alone: whether a fit tells prompts from steps."""

import csv
import io
import tarfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from msgspec import Struct

from benchmarks.physics.accuracy import Score, fit, score
from benchmarks.physics.argonne.chips import HARDWARE
from benchmarks.physics.argonne.models import MODELS
from benchmarks.physics.argonne.rows import ENGINES, BatchPoint, placed
from benchmarks.physics.argonne.static_batch import prompts_terms
from heterodyne.physics.prices import Prices
from heterodyne.physics.serving import Load

ARCHIVE, MEMBER = "argonne_power_quant_parallel.tar.gz", "Fig_22__all_results_TTFT_ITL.csv"


class FirstTokens(Struct, frozen=True, kw_only=True):
    """One hardware and engine."""

    vendor: str
    system: str
    engine: str
    ttft: Score
    bias: float  # the middle signed error in percent


def first_tokens(folder: Path, points: Sequence[BatchPoint]) -> tuple[FirstTokens, ...]:
    """Score the rows of a batch answered with one token; the same batch answered in full is not in the fit."""
    by_group: dict[tuple[str, str], list[dict[str, str]]] = defaultdict(list)
    for row in _rows(folder):
        by_group[(HARDWARE[row["Hardware"]].label, ENGINES[row["Framework"]])].append(row)
    return tuple(_group(key, rows, points) for key, rows in sorted(by_group.items()))


def _rows(folder: Path) -> list[dict[str, str]]:
    with tarfile.open(folder / ARCHIVE) as archive:
        member = archive.extractfile(MEMBER)
        assert member is not None
        return [row for row in csv.DictReader(io.TextIOWrapper(member)) if row["TTFT Latency"]]


def _group(key: tuple[str, str], rows: Sequence[dict[str, str]], points: Sequence[BatchPoint]) -> FirstTokens:
    asked = {(float(row["Input Length"]), float(row["Batch Size"])) for row in rows}
    seen = [
        point
        for point in points
        if (point.system, point.engine) == key
        and not point.has_experts
        and (point.load.prompt_tokens, point.load.concurrency) not in asked
    ]
    prices = fit(seen)
    errors = np.array([_predicted_s(row, key[1], prices) / float(row["TTFT Latency"]) - 1 for row in rows])
    return FirstTokens(
        vendor=seen[0].chip.vendor,
        system=key[0],
        engine=key[1],
        ttft=score(errors),
        bias=float(np.median(errors)) * 100,
    )


def _predicted_s(row: dict[str, str], engine: str, prices: Prices) -> float:
    chip, chips = HARDWARE[row["Hardware"]].chip, int(row["Num of Hardware"])
    placement = placed(MODELS[row["Model"]], chip, engine=engine, chips=chips)
    load = Load(concurrency=float(row["Batch Size"]), prompt_tokens=float(row["Input Length"]), output_tokens=1.0)
    return prices.seconds(prompts_terms(placement, load))
