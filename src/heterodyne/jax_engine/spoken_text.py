"""Tokens as they come, made into text that can be sent: whole letters, and nothing of what a stop text may become."""

from collections.abc import Callable, Sequence

BEFORE_TOKENS = 6  # of the prompt, for a piece of a word reads differently at the beginning of a text
BROKEN = "\ufffd"  # what decoders write for bytes that are no letter yet
WINDOW_TOKENS = 16  # after so many without a whole letter, they are none


class SpokenText:
    """Of one answer."""

    def __init__(self, decode: Callable[[Sequence[int]], str], prompt: Sequence[int], stops: Sequence[str]) -> None:
        self._decode = decode
        self._tokens = list(prompt[-BEFORE_TOKENS:])
        self._sent_tokens = len(self._tokens)
        self._stops = [stop for stop in stops if stop]
        self._held = ""
        self.has_stopped = False

    def add(self, token: int) -> str:
        """What can be sent now."""
        self._tokens.append(token)
        return self._pass_on(self._whole_letters(is_last=False), is_last=False)

    def end(self) -> str:
        """What is left when nothing more comes."""
        return "" if self.has_stopped else self._pass_on(self._whole_letters(is_last=True), is_last=True)

    def _whole_letters(self, *, is_last: bool) -> str:
        before = self._decode(self._tokens[: self._sent_tokens])
        text = self._decode(self._tokens)
        is_late = is_last or len(self._tokens) - self._sent_tokens >= WINDOW_TOKENS
        if (text.endswith(BROKEN) and not is_late) or len(text) <= len(before):
            return ""
        # The next piece is read after the last few, not after all of them: that would cost more with every token.
        self._tokens = self._tokens[-BEFORE_TOKENS:]
        self._sent_tokens = len(self._tokens)
        return text[len(before) :]

    def _pass_on(self, new: str, *, is_last: bool) -> str:
        text = self._held + new
        place = min((at for stop in self._stops if (at := text.find(stop)) >= 0), default=-1)
        if place >= 0:
            self.has_stopped, self._held = True, ""
            return text[:place]
        kept = 0 if is_last else max((_begun(text, stop) for stop in self._stops), default=0)
        self._held = text[len(text) - kept :]
        return text[: len(text) - kept]


def _begun(text: str, stop: str) -> int:
    """How many letters at the end of `text` may be the beginning of `stop`."""
    return next((size for size in range(min(len(stop) - 1, len(text)), 0, -1) if text.endswith(stop[:size])), 0)
