"""What Hugging Face's tools keep of a model on this machine; nothing is fetched."""

import os
import re
from pathlib import Path

HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")  # an organisation and a name
CONFIG = "config.json"
REVISION = "main"


def is_hub_id(word: str) -> bool:
    """Whether it has the form of one, and is no path that is there."""
    return HUB_ID.fullmatch(word) is not None and not Path(word).exists()


def cached_config(hub_id: str) -> Path | None:
    """The `config.json` of its main revision; None where there is none."""
    folder = hub_cache() / f"models--{hub_id.replace('/', '--')}"
    try:
        commit = (folder / "refs" / REVISION).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        commit = ""
    config = folder / "snapshots" / commit / CONFIG
    return config if commit and config.is_file() else None


def hub_cache() -> Path:
    """Where the tools look, by the variables that they read."""
    if named := os.environ.get("HF_HUB_CACHE"):
        return Path(named)
    home = os.environ.get("HF_HOME")
    if home is None:
        home = str(Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")) / "huggingface")
    return Path(home).expanduser() / "hub"
