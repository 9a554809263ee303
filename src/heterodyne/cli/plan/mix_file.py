"""The question of a mix as a file that people read and edit."""

import tomllib
from collections.abc import Iterator
from pathlib import Path

import msgspec

from heterodyne.domain.errors import InvalidSpec
from heterodyne.domain.nearest import with_near_field
from heterodyne.planning.mix.problem import MixProblem, ReplicaKind, Stock, TrafficBucket

HEADER = """\
# Which replicas, and how many of each, for this traffic? `heterodyne plan mix FILE` answers.
# Rates are requests per second of one replica within the service level: put in what you measured.
"""


def read_problem(file: Path) -> MixProblem:
    """Raises `InvalidSpec` with the place of what is wrong."""
    try:
        return msgspec.convert(tomllib.loads(file.read_text(encoding="utf-8")), MixProblem)
    except OSError as error:
        raise InvalidSpec(f"{file}: cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidSpec(f"{file}: {error}") from error
    except msgspec.ValidationError as error:
        message = with_near_field(str(error), MixProblem, TrafficBucket, Stock, ReplicaKind)
        raise InvalidSpec(f"{file}: {message}") from error


def write_problem(problem: MixProblem, file: Path) -> None:
    """What `read_problem` reads back as the same question."""
    try:
        file.write_text(HEADER + "\n".join(_lines(msgspec.to_builtins(problem))) + "\n", encoding="utf-8")
    except OSError as error:
        raise InvalidSpec(f"{file}: cannot be written: {error.strerror}") from error


def _lines(fields: dict[str, object]) -> Iterator[str]:
    tables = {name: value for name, value in fields.items() if isinstance(value, (list, tuple))}
    yield from (f"{name} = {_value(value)}" for name, value in fields.items() if name not in tables)
    for name, rows in tables.items():
        for row in rows:
            yield f"\n[[{name}]]"
            # TOML has no null: what is absent is left out.
            yield from (f"{field} = {_value(value)}" for field, value in row.items() if value is not None)


def _value(value: object) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{_value(name)} = {_value(one)}' for name, one in value.items())} }}"
    if isinstance(value, float):
        return f"{value:.6g}"  # more digits than can be measured
    # Strings, whole numbers and booleans are written in TOML as they are in JSON.
    return msgspec.json.encode(value).decode()
