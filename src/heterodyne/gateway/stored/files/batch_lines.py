"""Whether what comes can be the input of a batch: UTF-8 in lines that are not too long. What they say is read later."""

from codecs import getincrementaldecoder
from typing import Final, final

UTF_8: Final = getincrementaldecoder("utf-8")


@final
class BatchLines:
    """One per upload, fed with the file as it comes."""

    __slots__ = ("_decoder", "_line_bytes", "_line_bytes_max", "_says_something", "problem")

    def __init__(self, line_bytes_max: int) -> None:
        self._line_bytes_max = line_bytes_max
        self._decoder = UTF_8()
        self._line_bytes = 0  # of the last line, as far as it has come
        self._says_something = False
        self.problem = ""  # the first that was found, in words for the client

    def feed(self, piece: bytes) -> None:
        """The next of the file; behind a problem nothing is looked at."""
        if self.problem:
            return
        first = piece.find(b"\n")
        longest = self._line_bytes + (first if first >= 0 else len(piece))
        if len(piece) > self._line_bytes_max:
            longest = max(longest, *map(len, piece.split(b"\n")))
        self._line_bytes = longest if first < 0 else len(piece) - piece.rfind(b"\n") - 1
        self._says_something = self._says_something or not piece.isspace()
        if longest > self._line_bytes_max:
            self.problem = f"a line of the file is longer than {self._line_bytes_max} bytes"
        else:
            self._decode(piece, is_last=False)

    def end(self) -> None:
        """All of it has come."""
        if not self.problem:
            self._decode(b"", is_last=True)
        if not self.problem and not self._says_something:
            self.problem = "the file is empty"

    def _decode(self, piece: bytes, *, is_last: bool) -> None:
        try:
            self._decoder.decode(piece, is_last)
        except UnicodeDecodeError:
            self.problem = "the file is not UTF-8"
