"""Rules and dashboards in `deploy/` are what the commands write, Prometheus takes them, and the guide explains each."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from heterodyne.alerts.catalogue import ALERTS
from heterodyne.alerts.settings import AlertSettings
from heterodyne.cli.observability import RULES_FILE, dashboard_texts, rules_text
from heterodyne.telemetry.dashboards import DASHBOARDS

ROOT = Path(__file__).parents[2]
PROMETHEUS = ROOT / "deploy" / "prometheus"
GRAFANA = ROOT / "deploy" / "grafana"
RULE_TESTS = PROMETHEUS / "heterodyne.rules.test.yml"


def promtool(*arguments: str) -> None:
    path = shutil.which("promtool")
    if path is None:
        pytest.skip("promtool is not installed; Debian has it in the package `prometheus`")
    done = subprocess.run([path, *arguments], capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_rules_are_what_the_command_writes() -> None:
    written = (PROMETHEUS / RULES_FILE).read_text(encoding="utf-8")
    assert written == rules_text(AlertSettings()), "run `heterodyne observability rules --write deploy/prometheus`"


@pytest.mark.parametrize("name", dashboard_texts())
def test_a_dashboard_is_what_the_command_writes(name: str) -> None:
    same = (GRAFANA / name).read_text(encoding="utf-8") == dashboard_texts()[name]
    assert same, "run `heterodyne observability dashboards --write deploy/grafana`"


def test_prometheus_takes_the_rules() -> None:
    promtool("check", "rules", str(PROMETHEUS / RULES_FILE))


def test_prometheus_can_read_what_dashboards_ask(tmp_path: Path) -> None:
    rows = [panel for dashboard in DASHBOARDS.values() for panel in dashboard().panels]
    panels = [one for panel in rows for one in (panel, *panel.panels)]
    asked = sorted({target.expr for panel in panels for target in panel.targets})
    assert len(asked) > 100
    rules = [
        {"record": f"panel:{number}", "expr": one.replace("$__rate_interval", "5m")} for number, one in enumerate(asked)
    ]
    file = tmp_path / "panels.yml"
    file.write_text(json.dumps({"groups": [{"name": "panels", "rules": rules}]}), encoding="utf-8")  # YAML, too
    promtool("check", "rules", "--lint=none", str(file))


def test_the_rules_fire_when_they_should_and_not_when_they_should_not() -> None:
    promtool("test", "rules", str(RULE_TESTS))


def test_every_alert_is_seen_to_fire() -> None:
    expected = set(re.findall(r'alertname="(\w+)"', RULE_TESTS.read_text(encoding="utf-8")))
    assert expected == {alert.prometheus_name for alert in ALERTS}


def test_the_guide_has_a_section_and_the_name_of_every_alert() -> None:
    guide = (ROOT / "docs" / "guides" / "alerts.md").read_text(encoding="utf-8")
    headings = re.findall(r"^#+ (.+)$", guide, re.MULTILINE)
    anchors = {re.sub(r"[^a-z0-9 _-]", "", heading.lower()).replace(" ", "-") for heading in headings}
    assert {alert.section for alert in ALERTS} <= anchors
    assert [alert.name for alert in ALERTS if f"`{alert.name}`" not in guide] == []
