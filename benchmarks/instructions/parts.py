"""Which part of the product, or of what it stands on, a function belongs to."""

import re
from pathlib import PurePath

from compiling.build import LIBRARY, hot_files

INTERPRETER, C_LIBRARY, OTHER = "Python", "C library", "other libraries"
# By the beginning of the library's file name, the first that fits.
LIBRARIES = (
    ("libpython", INTERPRETER),
    ("python3", INTERPRETER),
    ("loop.cpython", "uvloop"),
    ("parser.cpython", "llhttp"),
    ("url_parser.cpython", "llhttp"),
    ("_core.cpython", "msgspec"),
    ("libc.so", C_LIBRARY),
    ("libc-", C_LIBRARY),
    ("ld-linux", C_LIBRARY),
    ("libpthread", C_LIBRARY),
    ("libm.so", C_LIBRARY),
    ("libsqlite3", "SQLite"),
)
RUNTIME = "mypyc's runtime"
COMPILED = re.compile(r"CPy(?:Def|Py|Init|Gen)_(.+)")  # how mypyc names the functions of a module


def _rooms() -> dict[str, str]:
    """Package of every suffix of a hot module's name, as it stands in symbols."""
    rooms = {}
    for file in hot_files():
        names = PurePath(file).with_suffix("").parts
        for at in range(len(names)):
            rooms["___".join(names[at:]) + "___"] = names[0]
    return rooms


ROOMS = _rooms()
LONGEST_FIRST = sorted(ROOMS, key=len, reverse=True)


def part_of(library: str, function: str) -> str:
    """A package of ours where it is compiled; what runs as Python is all the interpreter's."""
    file = PurePath(library).name
    if file.startswith(f"{LIBRARY}__mypyc"):
        return _compiled(function)
    return next((part for beginning, part in LIBRARIES if file.startswith(beginning)), OTHER)


def _compiled(function: str) -> str:
    found = COMPILED.match(function)
    if found is None:
        return RUNTIME
    return next((ROOMS[suffix] for suffix in LONGEST_FIRST if found.group(1).startswith(suffix)), RUNTIME)
