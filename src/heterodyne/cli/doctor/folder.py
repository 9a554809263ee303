"""Whether a folder, or what exists of its path, can be written, and how much room its disk has."""

import os
import shutil
from pathlib import Path

from heterodyne.cli.doctor.finding import Finding, State
from heterodyne.cli.output import bytes_in_words

FREE_LITTLE_BYTES = 10**9


def folder_finding(topic: str, name: str, folder: Path, *, elsewhere: str, when_little: str) -> Finding:
    """`elsewhere` says how to choose another folder, `when_little` what to do about a disk that is nearly full."""
    standing = next(place for place in (folder, *folder.parents) if place.exists())
    if not standing.is_dir() or not os.access(standing, os.W_OK | os.X_OK):
        return Finding(
            topic=topic, name=name, state=State.BLOCKER, value=f"{folder} cannot be written", advice=elsewhere
        )
    free_bytes = shutil.disk_usage(standing).free
    is_little = free_bytes < FREE_LITTLE_BYTES
    return Finding(
        topic=topic,
        name=name,
        state=State.WARNING if is_little else State.GOOD,
        value=f"{folder}, {bytes_in_words(free_bytes)} free",
        advice=when_little if is_little else None,
    )
