"""Whether a folder, or what exists of its path, can be written, and how much room its disk has."""

import os
import shutil
from pathlib import Path

from heterodyne.cli.doctor.finding import DoctorFinding, FindingState
from heterodyne.cli.output import bytes_in_words

FREE_LITTLE_BYTES = 10**9


def folder_finding(topic: str, name: str, folder: Path, *, elsewhere: str, when_little: str) -> DoctorFinding:
    """`elsewhere` is how to choose another folder, `when_little` what to do about a disk that is nearly full."""
    existing = next(place for place in (folder, *folder.parents) if place.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        return DoctorFinding(
            topic=topic, name=name, state=FindingState.BLOCKER, value=f"{folder} cannot be written", advice=elsewhere
        )
    free_bytes = shutil.disk_usage(existing).free
    is_little = free_bytes < FREE_LITTLE_BYTES
    return DoctorFinding(
        topic=topic,
        name=name,
        state=FindingState.WARNING if is_little else FindingState.GOOD,
        value=f"{folder}, {bytes_in_words(free_bytes)} free",
        advice=when_little if is_little else None,
    )
