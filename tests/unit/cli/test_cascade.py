"""`cascade fit` and `cascade report`."""

import json
from pathlib import Path

import msgspec
import pytest

from tests.unit.routing.cascade.observed import traffic


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    file = tmp_path / "rows.jsonl"
    file.write_bytes(b"\n".join(map(msgspec.json.encode, traffic(400))))
    return file


def test_what_is_fitted_is_reported_on_later_rows(run, tmp_path: Path, rows: Path) -> None:
    told = run("cascade", "fit", str(rows), "--cheap", "small", "--big", "large", "--bound", "0.1")
    assert told.exit_code == 0, told.output
    assert "Written to cascade.json." in told.stdout
    later = tmp_path / "later.jsonl"
    later.write_bytes(b"\n".join(map(msgspec.json.encode, traffic(300, start=7000))))
    told = run("cascade", "report", str(later), "--fitted", "cascade.json", "--json")
    found = {one["name"]: one for one in json.loads(told.stdout)}
    assert list(found) == ["always_cheap", "always_big", "router", "cascade", "clairvoyant"]
    assert found["always_big"]["usd_per_request"] == pytest.approx(0.02)
    assert found["cascade"]["quality_kept"] > 0.9
    assert found["cascade"]["usd_share"] < 0.75
    table = run("cascade", "report", str(later), "--fitted", "cascade.json").stdout
    assert "cascade (judged answer)" in table
    assert "clairvoyant" in table


def test_thresholds_are_chosen_again_without_new_scores(run, rows: Path) -> None:
    run("cascade", "fit", str(rows), "--cheap", "small", "--big", "large", "--bound", "0.2")
    told = run("cascade", "fit", str(rows), "--again", "cascade.json", "--bound", "0.02", "--out", "b.json", "--json")
    assert told.exit_code == 0, told.output
    assert json.loads(told.stdout)["bound"]["loss_share_max"] == 0.02
    first, second = (json.loads(Path(name).read_bytes()) for name in ("cascade.json", "b.json"))
    assert first["complexity"] == second["complexity"]
    assert (second["judged"]["threshold"] or 0) < first["judged"]["threshold"]


def test_wrong_input_is_wrong_usage(run, tmp_path: Path, rows: Path) -> None:
    told = run("cascade", "fit", str(rows), "--cheap", "small", "--big", "larg")
    assert (told.exit_code, f'{rows}:1: models: no model "larg"; did you mean "large"?' in told.stderr) == (2, True)
    assert run("cascade", "fit", str(rows), "--cheap", "small").exit_code == 2
    assert run("cascade", "fit", str(rows), "--cheap", "small", "--big", "small").exit_code == 2
    assert run("cascade", "fit", str(rows), "--cheap", "small", "--big", "large", "--bound", "1").exit_code == 2
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"prompt": "?", "models": {"small": {"quality": 2, "usd": 0}}}')
    told = run("cascade", "fit", str(bad), "--cheap", "small", "--big", "large")
    assert (told.exit_code, f"{bad}:1: " in told.stderr, "quality" in told.stderr) == (2, True, True)
    bad.write_text("")
    assert "no rows" in run("cascade", "fit", str(bad), "--cheap", "small", "--big", "large").stderr
    told = run("cascade", "report", str(rows), "--fitted", str(rows))
    assert (told.exit_code, "not a fitted cascade" in told.stderr) == (2, True)
    told = run("cascade", "fit", str(rows), "--cheap", "a", "--big", "b", "--again", str(rows))
    assert (told.exit_code, "--again" in told.stderr) == (2, True)
