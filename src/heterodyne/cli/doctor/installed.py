"""Which versions of Python, Heterodyne and the compiled parts are installed."""

import platform
import re
import sys
from collections.abc import Iterable, Iterator
from importlib import metadata

from heterodyne import __version__
from heterodyne.cli.doctor.finding import DoctorFinding, FindingState
from heterodyne.telemetry.build_form import build_form

TOPIC = "installed"
PYTHON_MIN = (3, 11)
CLASSIFIER = re.compile(r"Programming Language :: Python :: (\d+)\.(\d+)")
REQUIRED = ("uvloop", "httptools", "msgspec")
EMBEDDED_ENGINE = "xllamacpp"
FORMS = {"compiled": "compiled", "python": "not compiled"}


def installed(*, needs_embedded_engine: bool) -> Iterator[DoctorFinding]:
    """Versions; the embedded engine is required only where a pool is started here."""
    yield _python()
    value = f"{__version__}, {FORMS[build_form()]}"
    yield DoctorFinding(topic=TOPIC, name="heterodyne", state=FindingState.GOOD, value=value)
    for name in REQUIRED:
        yield _package(name, is_required=True)
    yield _package(EMBEDDED_ENGINE, is_required=needs_embedded_engine)


def newest_python(classifiers: Iterable[str]) -> tuple[int, int]:
    """The newest Python in the classifiers of the package."""
    versions = (CLASSIFIER.fullmatch(one) for one in classifiers)
    return max(((int(one[1]), int(one[2])) for one in versions if one), default=(sys.version_info[0], 99))


def _python() -> DoctorFinding:
    value = f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    newest = newest_python(metadata.metadata("heterodyne").get_all("Classifier") or ())
    if sys.version_info[:2] > newest:
        tried = ".".join(map(str, newest))
        advice = f"this version was tried with Python up to {tried}; take that one where something does not work"
        return DoctorFinding(topic=TOPIC, name="python", state=FindingState.WARNING, value=value, advice=advice)
    if sys.version_info >= PYTHON_MIN:
        return DoctorFinding(topic=TOPIC, name="python", state=FindingState.GOOD, value=value)
    return DoctorFinding(
        topic=TOPIC, name="python", state=FindingState.BLOCKER, value=value, advice="install Python 3.11 or newer"
    )


def _package(name: str, *, is_required: bool) -> DoctorFinding:
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        return DoctorFinding(
            topic=TOPIC,
            name=name,
            state=FindingState.BLOCKER if is_required else FindingState.NOTE,
            value="not installed",
            advice=f"{sys.executable} -m pip install {name}" if is_required else None,
        )
    return DoctorFinding(topic=TOPIC, name=name, state=FindingState.GOOD, value=version)
