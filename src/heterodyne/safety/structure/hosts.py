"""Whether a text has a URL whose host is not one of those that it may name."""

import re
from collections.abc import Sequence
from typing import Final

# Of any scheme. What browsers take for one too: any number of strokes behind http, in either direction.
_URL: Final = re.compile(r"(?:(?<=http):[\\/]*|(?<=https):[\\/]*|:[\\/]{2}|^[\\/]{2})([^\s/?#\"'<>`]*)", re.IGNORECASE)
_NAME: Final = re.compile(r"([^\s@\\%\[\]:]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]*)?")


class AllowedHosts:
    """The hosts of one policy, in which `*` stands for any characters."""

    def __init__(self, hosts: Sequence[str]) -> None:
        allowed = "|".join(re.escape(host.lower()).replace(r"\*", ".*") for host in hosts)
        self._allowed = re.compile(f"(?:{allowed})")

    def first_other(self, text: str) -> tuple[int, int] | None:
        """Where the first URL stands that leads to another, or to one that is spelt so that nobody can tell."""
        for match in _URL.finditer(text):
            if match[1] and not self._is_allowed(match[1]):
                return match.span()
        return None

    def _is_allowed(self, authority: str) -> bool:
        """The host stands behind the user; a stroke the other way some take for its end and others do not."""
        found = None if "\\" in authority else _NAME.fullmatch(authority.rpartition("@")[2])
        return found is not None and self._allowed.fullmatch(found[1].lower().rstrip(".")) is not None
