"""Whom and what a policy of the settings holds for: projects and models by pattern."""

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase


def holds_for(projects: Sequence[str], models: Sequence[str], *, project: str, names: Iterable[str]) -> bool:
    """Whether one pattern is the project's and one is any of the names that its model goes by."""
    return any(fnmatchcase(project, one) for one in projects) and any(
        fnmatchcase(name, one) for name in names for one in models
    )
