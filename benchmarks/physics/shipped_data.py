"""Writes what the package ships of measured rows: profiles, and the ranges of what they predict."""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from benchmarks.physics.argonne.rows import BatchPoint
from benchmarks.physics.argonne.strangers import of_kind, strangers
from benchmarks.physics.batch_profiles import fit_batch_profiles
from benchmarks.physics.report import all_spreads
from benchmarks.physics.shipped_profiles import fit_profiles
from benchmarks.physics.silicon.rows import Point
from benchmarks.physics.splits import SplitErrors
from heterodyne.physics.split import Split

DATA = Path(__file__).resolve().parents[2] / "src" / "heterodyne" / "physics" / "data"
HEAD = "# {what}, written by `python -m benchmarks.physics.run --write-profiles`; do not edit.\n"
PROFILES = "Prices of the step model and what judged them"
SPREADS = "How far measured times lie from predicted ones (measured by predicted: low, middle, high)"


def write_data(points: Sequence[Point], batches: Sequence[BatchPoint], errors: Mapping[Split, SplitErrors]) -> None:
    """Fit and write both files."""
    profiles = fit_profiles(points, errors[Split.SETUP].tpot)
    spreads = [one.spreads for one in all_spreads(points, errors)]
    far = strangers(batches, profiles)
    spreads += [of_kind(far, one) for one in spreads if one.split is Split.CHIP]
    _write(DATA / "profiles.toml", PROFILES, "profiles", [*profiles, *fit_batch_profiles(batches)])
    _write(DATA / "spreads.toml", SPREADS, "spreads", spreads)


def _write(path: Path, what: str, name: str, values: Sequence[Struct]) -> None:
    path.write_text(HEAD.format(what=what) + "\n".join(_table(name, value) for value in values))
    print(f"wrote {path}", file=sys.stderr)


def _table(name: str, value: Struct) -> str:
    """One entry of an array of tables. TOML has no null: an absence is left away."""
    fields = msgspec.to_builtins(value)
    lines = [f"{key} = {_inline(part)}\n" for key, part in fields.items() if part is not None]
    return f"[[{name}]]\n" + "".join(lines)


def _inline(value: object) -> str:
    if isinstance(value, dict):
        parts = ", ".join(f"{name} = {_inline(part)}" for name, part in value.items() if part is not None)
        return "{ " + parts + " }"
    return json.dumps(value)
