"""Where weights are kept, whether there is room and leave to write, and which models are already here."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from heterodyne.cli.configured_models import ConfiguredModel, configured_models
from heterodyne.cli.doctor.finding import Finding, State
from heterodyne.cli.output import bytes_in_words
from heterodyne.config.settings import Settings
from heterodyne.registry.cache import cache_folder

TOPIC = "weights"
FREE_LITTLE_BYTES = 10**9


def weights(settings: Settings) -> Iterator[Finding]:
    """The folder, then each model that is started here."""
    yield _folder(cache_folder(settings.registry))
    yield from (_model(model) for model in configured_models(settings) if model.cached is not None)


def _folder(folder: Path) -> Finding:
    standing = next(place for place in (folder, *folder.parents) if place.exists())  # what exists of the path
    if not standing.is_dir() or not os.access(standing, os.W_OK):
        return Finding(
            topic=TOPIC,
            name="folder",
            state=State.BLOCKER,
            value=f"{folder} cannot be written",
            advice="set registry.cache_dir to a folder that can",
        )
    free_bytes = shutil.disk_usage(standing).free
    value = f"{folder}, {bytes_in_words(free_bytes)} free"
    if free_bytes >= FREE_LITTLE_BYTES:
        return Finding(topic=TOPIC, name="folder", state=State.GOOD, value=value)
    return Finding(
        topic=TOPIC,
        name="folder",
        state=State.WARNING,
        value=value,
        advice="make room, or set registry.cache_dir to a folder on another disk",
    )


def _model(model: ConfiguredModel) -> Finding:
    name = f"{model.pool} ({model.model})"
    if model.cached:
        size = "" if model.size_bytes is None else f", {bytes_in_words(model.size_bytes)}"
        return Finding(topic=TOPIC, name=name, state=State.GOOD, value=f"here{size}")
    return Finding(
        topic=TOPIC,
        name=name,
        state=State.NOTE,
        value="not fetched yet; the first start does it",
        advice=f"heterodyne models pull {model.pool}",
    )
