"""`hf:` weights: one file of a Hugging Face repository, through the huggingface_hub package when it is installed."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from heterodyne.domain.errors import SettingsInvalid, WeightsUnavailable
from heterodyne.ports.weights import Progress
from heterodyne.registry.settings import FetchTerms

REFERENCE = re.compile(r"(?P<repo>[\w.-]+/[\w.-]+)(@(?P<revision>[\w.-]+))?/(?P<path>.+)")


def import_hub() -> Any:
    """The huggingface_hub module."""
    try:
        import huggingface_hub  # noqa: PLC0415 - an optional extra, loaded only for hf: weights
    except ImportError as error:
        raise WeightsUnavailable(
            "weights: hf: needs the huggingface_hub package; pip install 'heterodyne[hf]'"
        ) from error
    return huggingface_hub


class HfSource:
    """`owner/repo[@revision]/path/in/repo`."""

    scheme = "hf"

    def __init__(self, terms: FetchTerms, hub: Callable[[], Any] = import_hub) -> None:
        self._terms = terms
        self._hub = hub

    def fetch(self, reference: str, into: Path, progress: Progress) -> Path:
        """Download the file under `into`; the hub's own cache and token settings apply."""
        match, hub = _matched(reference), self._hub()
        progress(reference, 0, None)
        try:
            path = hub.hf_hub_download(
                repo_id=match["repo"], filename=match["path"], revision=match["revision"], local_dir=str(into)
            )
        except (OSError, ValueError, hub.errors.EntryNotFoundError) as error:
            raise WeightsUnavailable(f"weights: hf:{reference}: {error}") from error
        return Path(path)

    def check(self, reference: str) -> None:
        """Ask the hub about the file."""
        match, hub = _matched(reference), self._hub()
        try:
            url = hub.hf_hub_url(repo_id=match["repo"], filename=match["path"], revision=match["revision"])
            hub.get_hf_file_metadata(url, timeout=self._terms.timeout_s)
        except (OSError, ValueError, hub.errors.EntryNotFoundError) as error:
            raise WeightsUnavailable(f"weights: hf:{reference}: {error}") from error


def _matched(reference: str) -> re.Match[str]:
    match = REFERENCE.fullmatch(reference)
    if match is None:
        raise SettingsInvalid(f'weights: "hf:{reference}" is not "hf:OWNER/REPOSITORY[@REVISION]/PATH/IN/REPOSITORY"')
    return match
