"""On every page that Prometheus' own library writes, the scanner finds what its own parser finds."""

import math
from collections.abc import Iterator
from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.parser import text_string_to_metric_families

from heterodyne.domain.errors import EngineGarbage
from heterodyne.engines.prometheus_page import read_page

NAMES = ("v:run", "v:run_more", "v:runs", "run", "v:time")
NUMBERS = st.floats(allow_nan=True, allow_infinity=True, width=32) | st.integers(0, 10**12).map(float)
LABEL_VALUES = st.text(max_size=12).filter(lambda text: not any("\ud800" <= letter <= "\udfff" for letter in text))
LABEL_SETS = st.lists(st.tuples(LABEL_VALUES, LABEL_VALUES), min_size=1, max_size=4, unique=True)


@st.composite
def families(draw: st.DrawFn) -> list[Metric]:
    found: list[Metric] = []
    for name in draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=5, unique=True)):
        kind = draw(st.sampled_from((GaugeMetricFamily, CounterMetricFamily, HistogramMetricFamily)))
        family = kind(name, draw(LABEL_VALUES), labels=("a", "b"))
        for labels in draw(LABEL_SETS):
            if isinstance(family, HistogramMetricFamily):
                family.add_metric(labels, [("0.5", 1), ("+Inf", 3)], sum_value=draw(st.floats(0, 1e9)))
            else:
                family.add_metric(labels, draw(NUMBERS))
        found.append(family)
    return found


class Collector:
    def __init__(self, found: list[Metric]) -> None:
        self._found = found

    def collect(self) -> Iterator[Metric]:
        return iter(self._found)


@given(families())
def test_the_scanner_finds_what_the_parser_finds(found: list[Metric]) -> None:
    registry = CollectorRegistry()
    registry.register(Collector(found))  # type: ignore[arg-type]
    body = generate_latest(registry)
    samples = [one for family in text_string_to_metric_families(body.decode()) for one in family.samples]
    wanted = [name for base in NAMES for name in (base, f"{base}_total", f"{base}_sum")]
    expected = {
        name: [(one.labels, one.value) for one in samples if one.name == name and not math.isnan(one.value)]
        for name in wanted
    }
    try:
        page = read_page(body, wanted)
    except EngineGarbage:
        assert not any(expected.values())
        return
    for name in wanted:
        assert [(dict(one.labels), one.value) for one in page.samples(name)] == expected[name]


@given(st.binary(max_size=200) | st.text(alphabet='x{}a="\\, \n1#N', max_size=200).map(str.encode))
def test_no_bytes_are_too_strange(body: bytes) -> None:
    with suppress(EngineGarbage):
        read_page(body, ["x", "a"])
