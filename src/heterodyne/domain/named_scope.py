"""Whom and what a policy of the settings holds for: projects and models by pattern."""

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import Annotated

from msgspec import Meta

Projects = Annotated[
    tuple[str, ...],
    Meta(description="Projects it holds for, as organisation/project; `*` stands for any characters."),
]
Models = Annotated[
    tuple[str, ...],
    Meta(description="Models it holds for, by the name that is asked for or that answers; `*` as above."),
]


def holds_for(projects: Sequence[str], models: Sequence[str], *, project: str, names: Iterable[str]) -> bool:
    """Whether one pattern is the project's and one is any of the names that its model goes by."""
    return any(fnmatchcase(project, one) for one in projects) and any(
        fnmatchcase(name, one) for name in names for one in models
    )
