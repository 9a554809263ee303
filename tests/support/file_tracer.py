"""Which files of the package run because of something, and how often each is entered from another."""

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType

import heterodyne

SRC = f"{Path(heterodyne.__file__).parent}/"


class FileTrace:
    """What ran inside one `tracing` block: a file's entries are the calls of its functions from other files."""

    def __init__(self, background: frozenset[str], apart: tuple[str, ...]) -> None:
        self.entries: Counter[str] = Counter()
        self.roots: Counter[str] = Counter()
        self._background = background
        self._apart = apart
        self._files: dict[CodeType, str | None] = {}

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        if event != "call" or (file := self._file(frame)) is None:
            return
        caller, outermost = self._above(frame)
        if (root := self._name(outermost)) in self._background:
            return
        if caller is None:
            self.roots[root] += 1
        if caller != file:
            self.entries[file] += 1

    def _above(self, frame: FrameType) -> tuple[str | None, FrameType]:
        """The file of the nearest caller that counts, and the outermost frame that does."""
        caller, outermost, above = None, frame, frame.f_back
        while above is not None:
            if (file := self._file(above)) is not None:
                caller = caller or file
                outermost = above
            above = above.f_back
        return caller, outermost

    def _name(self, frame: FrameType) -> str:
        return f"{self._file(frame)}:{frame.f_code.co_qualname}"

    def _file(self, frame: FrameType) -> str | None:
        """The path below the package, None where the frame is not one that counts."""
        code = frame.f_code
        if code not in self._files:
            path = code.co_filename
            file = path.removeprefix(SRC) if path.startswith(SRC) else None
            self._files[code] = None if file is None or file.startswith(self._apart) else file
        return self._files[code]


@contextmanager
def tracing(*, background: frozenset[str], apart: tuple[str, ...]) -> Iterator[FileTrace]:
    """Trace this thread; what a `background` function calls does not count, nor do files whose path begins with one of
    `apart`.
    """
    trace = FileTrace(background, apart)
    sys.setprofile(trace)
    try:
        yield trace
    finally:
        sys.setprofile(None)
