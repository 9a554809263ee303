"""What an operator does not want to see called, whatever the tools' own schemas allow."""

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Any, Final

from heterodyne.safety.settings import GuardSettings
from heterodyne.safety.structure.hosts import AllowedHosts
from heterodyne.safety.structure.paths import AllowedRoots
from heterodyne.safety.structure.patterns import compiled

DENIED_TOOL: Final = "denied_tool"
DENIED_ARGUMENT: Final = "denied_argument"
PATH_OUTSIDE: Final = "path_outside"
OTHER_HOST: Final = "other_host"


class DenyRules:
    """Those of one policy; raises InvalidSpec for a pattern that is none."""

    def __init__(self, settings: GuardSettings) -> None:
        self._tools = settings.tools
        self._denied = settings.tools_denied
        self._patterns = tuple(compiled(one, "arguments_denied") for one in settings.arguments_denied)
        self._roots = AllowedRoots(settings.roots_allowed) if settings.roots_allowed else None
        self._hosts = AllowedHosts(settings.hosts_allowed) if settings.hosts_allowed else None
        self.reads_arguments = bool(self._patterns or self._roots or self._hosts)

    def denies(self, name: str) -> bool:
        """Whether nobody may call this tool."""
        return _is_any(name, self._denied)

    def holds_for(self, name: str) -> bool:
        """Whether its arguments are looked at."""
        return not self._tools or _is_any(name, self._tools)

    def broken_by(self, arguments: Any) -> Iterator[str]:
        """The rules that its arguments break, each once; `arguments` are read, or are a text that is no JSON."""
        texts = tuple(_texts(arguments))
        if any(_finds(self._patterns, text) for text in texts):
            yield DENIED_ARGUMENT
        roots, hosts = self._roots, self._hosts
        if roots is not None and any(roots.first_other(text) is not None for text in texts):
            yield PATH_OUTSIDE
        if hosts is not None and any(hosts.first_other(text) is not None for text in texts):
            yield OTHER_HOST


def _is_any(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name.lower(), one.lower()) for one in patterns)


def _finds(patterns: Sequence[re.Pattern[str]], text: str) -> bool:
    return any(one.search(text) is not None for one in patterns)


def _texts(value: Any) -> Iterator[str]:
    """Every text in it, names of members too, and words of a list as one text: commands are spelt so.

    A stack and not recursion: a model chooses how deep it goes.
    """
    stack = [value]
    while stack:
        one = stack.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            stack += one.keys()
            stack += one.values()
        elif isinstance(one, list):
            stack += [inner for inner in one if isinstance(inner, (str, dict, list))]
            if len(one) > 1 and all(isinstance(word, str) for word in one):
                yield " ".join(one)
