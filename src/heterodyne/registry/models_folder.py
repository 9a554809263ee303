"""Where the registry's models are kept on this machine."""

import os
from collections.abc import Mapping
from pathlib import Path

from heterodyne.registry.settings import RegistrySettings


def models_folder(settings: RegistrySettings, environment: Mapping[str, str] = os.environ) -> Path:
    """The setting, else the user's data folder."""
    if settings.models_dir is not None:
        return Path(settings.models_dir).expanduser().absolute()
    configured = environment.get("XDG_DATA_HOME")
    base = Path(configured) if configured else Path.home() / ".local" / "share"
    return base / "heterodyne" / "models"
