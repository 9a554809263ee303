"""What could not be said to somebody, by its path, once each."""


class PathNotes:
    """In the order in which it was met."""

    def __init__(self) -> None:
        self._paths: dict[str, None] = {}

    def note(self, path: str, *, is_set: bool) -> None:
        if is_set:
            self._paths[path] = None

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(self._paths)
