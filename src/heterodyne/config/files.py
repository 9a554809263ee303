"""The settings file: where it is looked for, and its TOML as a plain document."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

from heterodyne.config.layers import CONFIG_VARIABLE
from heterodyne.config.problems import SettingProblem, SettingsProblems

FILE_NAME = "heterodyne.toml"


def find(path: Path | None, environment: Mapping[str, str]) -> Path | None:
    """The file to read: the one named, else the first found; None when there is none, which is fine."""
    if path is not None:
        return path
    if named := environment.get(CONFIG_VARIABLE):
        return Path(named).expanduser()
    return next((place for place in search_places(environment) if place.is_file()), None)


def search_places(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Where a file is looked for when none is named."""
    home = environment.get("HOME")
    places = [Path(FILE_NAME)]
    if home:
        places.append(Path(home) / ".config" / "heterodyne" / FILE_NAME)
    return tuple(places)


def read(path: Path) -> dict[str, object]:
    """The document in a TOML file; a file that cannot be read or parsed is a problem with its place."""
    try:
        text = path.read_bytes().decode()
    except FileNotFoundError as error:
        raise _refused(str(path), f"no such file; `heterodyne config init {path}` writes one") from error
    except OSError as error:
        raise _refused(str(path), f"cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise _refused(str(path), f"is not UTF-8 text (byte {error.start})") from error
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _syntax_problem(path, text, str(error)) from error


def _refused(where: str, message: str) -> SettingsProblems:
    return SettingsProblems((SettingProblem(path=where, message=message),))


def _syntax_problem(path: Path, text: str, complaint: str) -> SettingsProblems:
    """tomllib has the line only inside its message, until Python 3.14."""
    message, _, place = complaint.rpartition(" (at ")
    line = re.search(r"line (\d+)", place)
    number = int(line[1]) if line else max(1, len(text.splitlines()))
    return _refused(f"{path}:{number}", f"not TOML: {message[:1].lower()}{message[1:]}")
