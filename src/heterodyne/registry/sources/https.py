"""`https:` weights: any file on a web server, provided its SHA-256 is declared."""

from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from heterodyne.domain.errors import SettingsInvalid
from heterodyne.ports.weights import Progress
from heterodyne.registry.download import ask_head, download
from heterodyne.registry.settings import FetchTerms


class HttpsSource:
    """One URL, one file."""

    scheme = "https"

    def __init__(self, terms: FetchTerms) -> None:
        self._terms = terms

    def fetch(self, reference: str, into: Path, progress: Progress) -> Path:
        """Download `https:REFERENCE` under `into`."""
        url, name = self._named(reference)
        target = into / name
        download(url, target, self._terms, progress, label=name)
        return target

    def check(self, reference: str) -> None:
        """Ask for its head."""
        url, name = self._named(reference)
        ask_head(url, self._terms, label=name)

    def _named(self, reference: str) -> tuple[str, str]:
        """The URL, and the name of the file behind it."""
        url = f"https:{reference}"
        if self._terms.sha256 is None:
            raise SettingsInvalid(f"weights: {url} needs weights_sha256, the SHA-256 of the file behind it")
        name = PurePosixPath(unquote(urlsplit(url).path)).name
        if not urlsplit(url).netloc or not name or name in {".", ".."}:
            raise SettingsInvalid(f"weights: {url} does not name a file")
        return url, name
