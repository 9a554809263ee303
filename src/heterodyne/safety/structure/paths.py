"""Whether a text names a file outside the folders that it may name, as a path alone or in the middle of a command.

A text is no shell: nobody here can follow links, or what a command puts together. What begins with a variable is taken
for a path that leads outside.
"""

import posixpath
import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import unquote

PATH_CHARS_MAX: Final = 4096  # no system takes longer ones
_ENDS: Final = r"\s\"'`|;&<>()"
# URLs to other machines, URLs and paths with a drive, and whatever else stands between marks.
_TOKEN: Final = re.compile(
    rf"(?P<url>\b(?:https?|wss?|ftps?|ssh|git|s3|gs)://[^{_ENDS}]*)"
    rf"|file:[^{_ENDS}]*|(?<![A-Za-z0-9])[A-Za-z]:[\\/][^{_ENDS}=,]*|[^{_ENDS}=,:\[\]{{}}]+",
    re.IGNORECASE,
)
_TELLING: Final = re.compile(r"[/\\~$%]|\.\.|file:", re.IGNORECASE)  # what no path that leads outside is without
_DRIVE: Final = re.compile(r"[A-Za-z]:/")
_VARIABLE: Final = re.compile(r"\$[A-Za-z_]|%[A-Za-z_]+%")
_ABSOLUTE: Final = ("/", "~", "\\/", "\\\\")  # a shell takes away the stroke before another


class AllowedRoots:
    """The folders of one policy."""

    def __init__(self, roots: Sequence[str]) -> None:
        self._roots = tuple(_plain(root) for root in roots)

    def first_other(self, text: str) -> tuple[int, int] | None:
        """Where the first path stands that leads outside; a relative one does where it climbs."""
        if _TELLING.search(text) is None:
            return None
        for match in _TOKEN.finditer(text):
            if match["url"] is None and self._is_outside(match[0]):
                return match.span()
        return None

    def _is_outside(self, token: str) -> bool:
        if _VARIABLE.match(token):
            return True
        is_file = token[:5].lower() == "file:"
        is_absolute = is_file or token.startswith(_ABSOLUTE) or _DRIVE.match(token.replace("\\", "/")) is not None
        if not is_absolute and ".." not in token:
            return False
        if len(token) > PATH_CHARS_MAX:
            return True
        path = _plain(token)
        if not is_absolute:
            return path == ".." or path.startswith("../")
        return not any(path == root or path.startswith(f"{root.rstrip('/')}/") for root in self._roots)


def _plain(path: str) -> str:
    """With forward strokes and without steps that lead back; a relative path that climbs still begins with them."""
    if path[:5].lower() == "file:":
        path = unquote(path[5:].removeprefix("//").removeprefix("localhost"))
        if _DRIVE.match(path[1:].replace("\\", "/")):
            path = path[1:]
    made = posixpath.normpath(path.replace("\\", "/"))
    return f"/{made.lstrip('/')}" if made.startswith("//") else made
