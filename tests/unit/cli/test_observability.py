"""`observability rules` and `observability dashboards`."""

import json
from pathlib import Path


def test_rules_are_printed_with_the_thresholds_of_the_settings(run) -> None:
    text = run("--set", "alerts.ttft_p99_ms=2500", "observability", "rules").stdout
    assert "alert: HeterodyneTtftP99High" in text
    assert "> 2.5 and" in text


def test_rules_are_written_into_a_folder(run, tmp_path: Path) -> None:
    done = run("observability", "rules", "--write", str(tmp_path / "rules"))
    (path,) = done.stdout.split()
    assert Path(path).read_text(encoding="utf-8").startswith("# Written by")


def test_dashboards_are_written_into_a_folder(run, tmp_path: Path) -> None:
    done = run("observability", "dashboards", "--write", str(tmp_path))
    titles = {json.loads(Path(path).read_text(encoding="utf-8"))["title"] for path in done.stdout.splitlines()}
    assert titles == {"Heterodyne: overview", "Heterodyne: everything"}


def test_without_a_folder_the_dashboards_are_named(run) -> None:
    names = run("observability", "dashboards").stdout.split()
    assert names == ["heterodyne-overview.json", "heterodyne-everything.json"]
