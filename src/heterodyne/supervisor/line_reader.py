"""The lines a worker is sent, read from the pipe itself: a buffered file would swallow what follows the first."""

import os

READ_BYTES = 65536


class LineReader:
    """Blocking; the supervisor holds the other end open for as long as it lives."""

    def __init__(self, descriptor: int = 0) -> None:
        self._descriptor = descriptor
        self._rest = b""

    def try_next(self) -> bytes | None:
        """The next line; None once the supervisor is gone."""
        pieces = [self._rest]
        while b"\n" not in pieces[-1]:
            piece = os.read(self._descriptor, READ_BYTES)
            if not piece:
                return None
            pieces.append(piece)
        line, _, self._rest = b"".join(pieces).partition(b"\n")
        return line
