"""Takes the wanted samples out of a Prometheus page.

Engines' pages are mostly histograms without use here, so the page is not parsed: each wanted name is searched for, in
C, and only its own lines are taken apart. The format has the lines of one metric stand together, so the search for a
name ends with its first row of lines; only parts of histograms (`_sum`) come once in each of their label sets.
"""

import math
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from heterodyne.domain.errors import EngineGarbage

PAGE_BYTES_MAX = 8 << 20
SAMPLES_MAX = 10_000  # of one name
SHOWN = 3  # names in an error
LABELS_KEPT = 4096  # label sets; an engine's are the same on every page
AFTER_NAME = b"{ \t"

# Values of labels may have braces, spaces and escaped quotes in them. Possessive, so that no page makes it slow.
_LABELS = re.compile(rb'[ \t]*+(\{(?>(?:[^"}\n]++|"(?>(?:[^"\\\n]++|\\.)*)")*)\}|(?!\{))')
_LABEL = re.compile(rb'([a-zA-Z_][a-zA-Z0-9_]*)[ \t]*=[ \t]*"((?>(?:[^"\\\n]++|\\.)*))"')
_NUMBER = re.compile(rb"[ \t]*+([^ \t\r\n#]++)")
_ESCAPED = re.compile(r"\\(.)")
_UNESCAPED = {"n": "\n", '"': '"', "\\": "\\"}


class PrometheusSample(NamedTuple):
    """One line; its labels stay as they came until they are read."""

    raw_labels: bytes
    value: float

    @property
    def labels(self) -> Mapping[str, str]:
        return _labels(self.raw_labels)


class PrometheusPage:
    """The samples of the wanted names; what is not a number has been left out."""

    __slots__ = ("_samples",)

    def __init__(self, samples: dict[str, list[PrometheusSample]]) -> None:
        self._samples = samples

    def samples(self, name: str) -> list[PrometheusSample]:
        """Every line of this name."""
        return self._samples.get(name, [])

    def total(self, *names: str) -> float | None:
        """All label sets of the first of these names that the page has, together."""
        found = self._first(names)
        return sum(sample.value for sample in found) if found else None

    def total_per(self, label: str, name: str) -> float | None:
        """One value for each value of the label, the largest, together: ranks that repeat each other count once."""
        found = self.samples(name)
        if len(found) < 2:
            return found[0].value if found else None
        largest: dict[str, float] = {}
        for sample in found:
            key = sample.labels.get(label, "")
            largest[key] = max(sample.value, largest.get(key, sample.value))
        return sum(largest.values())

    def largest(self, *names: str) -> float | None:
        """Of all label sets of the first of these names that the page has."""
        found = self._first(names)
        return max(sample.value for sample in found) if found else None

    def _first(self, names: tuple[str, ...]) -> list[PrometheusSample]:
        return next((found for name in names if (found := self._samples.get(name))), [])


def read_page(body: bytes, names: Iterable[str | tuple[str, ...]]) -> PrometheusPage:
    """Of names that stand together in a tuple the first that the page has, for engines that have renamed a metric.

    Raises `EngineGarbage` with what the page is instead, or when it has none of the names.
    """
    _check(body)
    page = b"\n" + body + b"\n"
    samples: dict[str, list[PrometheusSample]] = {}
    wanted = [(name,) if isinstance(name, str) else name for name in names]
    for spellings in wanted:
        for name in spellings:
            if found := _samples(page, name):
                samples[name] = found
                break
    if not samples:
        shown = ", ".join(spellings[0] for spellings in wanted[:SHOWN]) + (", …" if len(wanted) > SHOWN else "")
        raise EngineGarbage(f"The metrics page has none of {shown}; is it another engine's?")
    return PrometheusPage(samples)


def count(value: float | None) -> int | None:
    """A number of things."""
    return None if value is None or not math.isfinite(value) else max(0, int(value))


def share(value: float | None) -> float | None:
    """From 0 to 1, whatever the engine says."""
    return None if value is None or not math.isfinite(value) else min(max(value, 0.0), 1.0)


def _check(body: bytes) -> None:
    if len(body) > PAGE_BYTES_MAX:
        raise EngineGarbage(f"The metrics page has {len(body)} bytes; more than {PAGE_BYTES_MAX} are not read.")
    start = body[:64].lstrip()
    if not start:
        raise EngineGarbage("The metrics page is empty.")
    if start.startswith(b"<"):
        raise EngineGarbage("The metrics page is HTML, not Prometheus.")
    if start.startswith((b"{", b"[")):
        raise EngineGarbage("The metrics page is JSON, not Prometheus.")


def _samples(page: bytes, name: str) -> list[PrometheusSample]:
    needle = b"\n" + name.encode()
    is_scattered = name.endswith("_sum")
    found: list[PrometheusSample] = []
    at = page.find(needle)
    while at >= 0:
        place = at + len(needle)
        if page[place] in AFTER_NAME:
            found.append(_sample(page, place, name))
            at = page.find(b"\n", place)
            if page.startswith(needle, at):
                continue
        if found and not is_scattered:
            break
        at = page.find(needle, at + 1)  # what was found first is a longer name
    if len(found) > SAMPLES_MAX:
        raise EngineGarbage(f"The metrics page has more than {SAMPLES_MAX} samples of {name}.")
    return [sample for sample in found if not math.isnan(sample.value)]


def _sample(page: bytes, place: int, name: str) -> PrometheusSample:
    labels = _LABELS.match(page, place)
    if labels is None:
        raise EngineGarbage(f"The metrics page has a {name} whose labels do not end.")
    number = _NUMBER.match(page, labels.end())
    try:
        return PrometheusSample(labels[1], float(number[1] if number else b""))
    except ValueError as error:
        raise EngineGarbage(f"The metrics page has a {name} that is no number.") from error


@lru_cache(maxsize=LABELS_KEPT)
def _labels(raw: bytes) -> Mapping[str, str]:
    return MappingProxyType(
        {
            match[1].decode(): _ESCAPED.sub(_unescaped, match[2].decode(errors="replace"))
            for match in _LABEL.finditer(raw)
        }
    )


def _unescaped(escape: re.Match[str]) -> str:
    return _UNESCAPED.get(escape[1], escape[0])
