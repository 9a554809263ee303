"""A virtual environment per peer, made once and used again."""

import subprocess
import sys
from pathlib import Path

INSTALL_S_MAX = 900


class PeerUnavailable(Exception):
    """This peer cannot be measured here: a reason for the page, and details only the terminal should see."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason


def environment(folder: Path, package: str, requirement: str) -> Path:
    """The `bin` folder of an environment that has the package."""
    bin_folder = folder / package / "bin"
    if _version(bin_folder, package) is None:
        print(f"installing {requirement} into {folder / package} ...", file=sys.stderr, flush=True)
        _call([sys.executable, "-m", "venv", str(folder / package)])
        _call([str(bin_folder / "python"), "-m", "pip", "install", "--quiet", requirement])
    return bin_folder


def version(bin_folder: Path, package: str) -> str:
    """The installed version."""
    return _version(bin_folder, package) or "unknown"


def _version(bin_folder: Path, package: str) -> str | None:
    if not (bin_folder / "python").exists():
        return None
    code = f"import importlib.metadata as m; print(m.version({package!r}))"
    done = subprocess.run([bin_folder / "python", "-c", code], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def _call(command: list[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=INSTALL_S_MAX)
    except subprocess.TimeoutExpired as error:
        raise PeerUnavailable(f"installing took over {INSTALL_S_MAX} s") from error
    if done.returncode:
        last_line = (done.stderr.strip() or "no message").splitlines()[-1]
        raise PeerUnavailable("installing failed", last_line)
