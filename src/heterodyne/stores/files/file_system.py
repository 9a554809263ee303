"""File systems behind URLs, as `fsspec` opens them: object stores above all."""

import time
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from heterodyne.domain.errors import SettingsInvalid
from heterodyne.domain.url_secrets import without_secrets


def open_file_system(url: str, setting: str) -> tuple[Any, str]:
    """The file system, and the path in it; `setting` is what to blame. It takes half a second, once."""
    try:
        from fsspec.core import url_to_fs  # noqa: PLC0415 - an extra, and half a second
    except ImportError as error:
        raise SettingsInvalid(
            f'{setting} needs the extra "object-store": pip install "heterodyne[object-store]"'
        ) from error
    try:
        files, root = url_to_fs(url, use_listings_cache=False, skip_instance_cache=True, **_options(url))
    except (ImportError, ValueError) as error:
        raise SettingsInvalid(f"{setting} = {without_secrets(url)!r}: {error}") from error
    return files, root.rstrip("/")


def written_at(facts: dict[str, Any]) -> float:
    """When an object was put, in seconds since the epoch; where a place does not say, as if it were just now."""
    for name in ("LastModified", "last_modified", "mtime", "created", "updated"):
        said = facts.get(name)
        if isinstance(said, datetime):
            return said.timestamp()
        if isinstance(said, int | float):
            return float(said)
    return time.time()


def _options(url: str) -> dict[str, Any]:
    """Of one library alone. Some stores that speak S3 send the whole object's checksum with a range of it, which its
    client would refuse."""
    if urlsplit(url).scheme not in ("s3", "s3a"):
        return {}
    required = {"response_checksum_validation": "when_required", "request_checksum_calculation": "when_required"}
    return {"config_kwargs": required}
