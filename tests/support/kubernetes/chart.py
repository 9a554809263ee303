"""The chart as Helm renders it."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

CHART = Path(__file__).parents[3] / "deploy" / "helm" / "heterodyne"
RELEASE, NAMESPACE = "acme", "gateways"


def helm(*arguments: str) -> "subprocess.CompletedProcess[str]":
    beside = Path(sys.executable).with_name("helm")  # as the package `helm-binary` installs it
    program = str(beside) if beside.exists() else shutil.which("helm")
    if program is None:
        pytest.skip("helm is not installed; the package `helm-binary` brings it")
    return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60, check=False)


def template(folder: Path, values: dict[str, Any], chart: Path = CHART) -> "subprocess.CompletedProcess[str]":
    file = folder / "values.json"
    file.write_text(json.dumps(values), encoding="utf-8")
    return helm("template", RELEASE, str(chart), "--namespace", NAMESPACE, "--values", str(file))


def rendered(folder: Path, values: dict[str, Any], chart: Path = CHART) -> list[dict[str, Any]]:
    """Every object."""
    done = template(folder, values, chart)
    assert done.returncode == 0, done.stderr
    return [one for one in yaml.safe_load_all(done.stdout) if one is not None]


def of_kind(objects: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [one for one in objects if one["kind"] == kind]
