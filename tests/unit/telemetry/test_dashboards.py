"""Dashboards: what they ask exists, nothing is left out, and Grafana can read them."""

import json
import re
from typing import Any

import pytest

from heterodyne.telemetry.dashboards import DASHBOARDS
from heterodyne.telemetry.dashboards.grafana import rendered
from heterodyne.telemetry.meters import Histogram
from heterodyne.telemetry.metrics import ALL

METRIC = re.compile(r"\bheterodyne_[a-z0-9_]+")
MATCHERS = re.compile(r"\b(heterodyne_[a-z0-9_]+)\{([^}]*)\}")
METERS = {meter.name: meter for meter in ALL}


def read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(rendered(DASHBOARDS[name]()))
    return found


def panels(dashboard: dict[str, Any]) -> list[dict[str, Any]]:
    """Those of folded rows, too."""
    return [one for panel in dashboard["panels"] for one in (panel, *panel["panels"])]


def expressions(dashboard: dict[str, Any]) -> list[str]:
    return [target["expr"] for panel in panels(dashboard) for target in panel["targets"]]


def meter_of(name: str) -> str:
    """The metric behind a series, which of a histogram are several."""
    bare = re.sub("_(bucket|sum|count)$", "", name)
    return bare if isinstance(METERS.get(bare), Histogram) else name


@pytest.mark.parametrize("name", DASHBOARDS)
def test_a_dashboard_asks_only_for_what_is_exported(name: str) -> None:
    asked = {meter_of(one) for expression in expressions(read(name)) for one in METRIC.findall(expression)}
    assert asked
    assert asked - set(METERS) == set()


@pytest.mark.parametrize("name", DASHBOARDS)
def test_a_dashboard_asks_only_for_labels_that_the_metrics_have(name: str) -> None:
    for expression in expressions(read(name)):
        for metric, matchers in MATCHERS.findall(expression):
            labels = re.findall(r"(\w+)(?:=~|!~|!=|=)", matchers)
            assert set(labels) <= set(METERS[meter_of(metric)].labels), expression
        for grouped in re.findall(r"(?:sum|max|avg) by \(([^)]*)\) \((?:rate\()?(heterodyne_[a-z0-9_]+)", expression):
            labels = set(grouped[0].split(", ")) - {"le"}
            assert labels <= set(METERS[meter_of(grouped[1])].labels), expression


def test_one_dashboard_has_every_metric() -> None:
    asked = {
        meter_of(one)
        for expression in expressions(read("heterodyne-everything.json"))
        for one in METRIC.findall(expression)
    }
    assert asked == set(METERS)


@pytest.mark.parametrize("name", DASHBOARDS)
def test_grafana_finds_what_it_needs(name: str) -> None:
    dashboard = read(name)
    assert dashboard["schemaVersion"] == 39
    assert dashboard["uid"]
    assert len(dashboard["uid"]) <= 40
    variables = [one["name"] for one in dashboard["templating"]["list"]]
    assert variables == ["datasource", "model", "pool", "hardware", "tier"]
    every = panels(dashboard)
    assert len({one["id"] for one in every}) == len(every)
    for panel in every:
        place = panel["gridPos"]
        assert place["x"] >= 0
        assert place["x"] + place["w"] <= 24
        assert (panel["type"] == "row") is not bool(panel["targets"])
        assert all(target["datasource"]["uid"] == "${datasource}" for target in panel["targets"])
        assert len({target["refId"] for target in panel["targets"]}) == len(panel["targets"])


def test_panels_that_are_open_do_not_lie_on_each_other() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in read("heterodyne-overview.json")["panels"]:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken, panel["title"]
        taken |= cells


@pytest.mark.parametrize("name", DASHBOARDS)
def test_a_dashboard_is_the_same_every_time(name: str) -> None:
    assert rendered(DASHBOARDS[name]()) == rendered(DASHBOARDS[name]())
