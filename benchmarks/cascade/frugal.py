"""FrugalGPT's published summaries: the cheapest way it found to keep most of the best model's accuracy."""

import csv
import io
import tarfile
from pathlib import Path

from msgspec import Struct

ARCHIVE = "frugalgpt_model_accuracy_cost_summaries.tar.gz"


class FrugalFigure(Struct, frozen=True, kw_only=True):
    """One task."""

    task: str
    best_single: str
    best_accuracy: float
    usd_share_at_95: float | None  # of the best single model; None: no budget kept as much
    usd_share_at_100: float | None


def frugal_figures(folder: Path) -> list[FrugalFigure]:
    """Tasks whose summaries have both single models and the cascade."""
    found = []
    with tarfile.open(folder / "router" / ARCHIVE) as archive:
        for member in archive.getmembers():
            name = Path(member.name).name
            file = archive.extractfile(member) if name.startswith("summary_") and name.endswith(".csv") else None
            if file is not None:
                lines = list(csv.DictReader(io.StringIO(file.read().decode())))
                found.append(_figure(name.split("_")[1], lines))
    return found


def _figure(task: str, lines: list[dict[str, str]]) -> FrugalFigure:
    single = [line for line in lines if line["Method"] != "FrugalGPT"]
    best = max(single, key=lambda line: float(line["Test_acc"]))

    def usd_share(kept: float) -> float | None:
        wanted = kept * float(best["Test_acc"])
        costs = [
            float(line["Test_cost"])
            for line in lines
            if line["Method"] == "FrugalGPT" and float(line["Test_acc"]) >= wanted
        ]
        return min(costs) / float(best["Test_cost"]) if costs else None

    return FrugalFigure(
        task=task,
        best_single=best["Method"],
        best_accuracy=float(best["Test_acc"]),
        usd_share_at_95=usd_share(0.95),
        usd_share_at_100=usd_share(1.0),
    )
