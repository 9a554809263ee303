"""Families of a metrics page that all carry the same labels."""

from collections.abc import Mapping

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from heterodyne.emulator.observations import EmulatedHistogram


class Metrics:
    """Builds them; a counter's `_total` is added where the name lacks it."""

    def __init__(self, **labels: str) -> None:
        self._names = tuple(labels)
        self._values = tuple(labels.values())

    def gauge(self, name: str, text: str, value: float, **more: str) -> Metric:
        """A number that goes up and down."""
        family = GaugeMetricFamily(name, text, labels=(*self._names, *more))
        family.add_metric((*self._values, *more.values()), value)
        return family

    def gauges(self, name: str, text: str, label: str, values: Mapping[str, float]) -> Metric:
        """The same by one more label."""
        family = GaugeMetricFamily(name, text, labels=(*self._names, label))
        for key, value in values.items():
            family.add_metric((*self._values, key), value)
        return family

    def counter(self, name: str, text: str, value: float, **more: str) -> Metric:
        """A number that only grows."""
        family = CounterMetricFamily(name, text, labels=(*self._names, *more))
        family.add_metric((*self._values, *more.values()), value)
        return family

    def counters(self, name: str, text: str, label: str, values: Mapping[str, float]) -> Metric:
        """The same by one more label."""
        family = CounterMetricFamily(name, text, labels=(*self._names, label))
        for key, value in values.items():
            family.add_metric((*self._values, key), value)
        return family

    def histogram(self, name: str, text: str, values: EmulatedHistogram) -> Metric:
        """A distribution."""
        family = HistogramMetricFamily(name, text, labels=self._names)
        family.add_metric(self._values, values.buckets(), sum_value=values.sum)
        return family
