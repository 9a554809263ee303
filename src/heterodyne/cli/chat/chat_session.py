"""Turns of a conversation on the terminal: history, the streamed answer, /reset and /exit."""

import re
from collections.abc import Callable
from contextlib import closing

from heterodyne.cli.chat.openai_client import ChatBody, ChatMessage, OpenAIClient
from heterodyne.domain.errors import HeterodyneError

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # all control characters but tab and newline
Write = Callable[[str], None]


class ChatSession:
    """One history with one model; every request carries the whole history."""

    def __init__(
        self,
        client: OpenAIClient,
        model: str,
        *,
        system: str | None = None,
        max_tokens: int | None = None,
        temperature: float | None = None,
    ) -> None:
        self._client = client
        self._opening = (ChatMessage("system", system),) if system else ()
        self._body = ChatBody(model=model, messages=(), max_tokens=max_tokens, temperature=temperature)
        self.history: tuple[ChatMessage, ...] = self._opening

    def body(self, prompt: str) -> ChatBody:
        """What would be sent for the next prompt."""
        return ChatBody(
            model=self._body.model,
            messages=(*self.history, ChatMessage("user", prompt)),
            max_tokens=self._body.max_tokens,
            temperature=self._body.temperature,
        )

    def send(self, prompt: str, write: Write) -> None:
        """Stream one answer; what arrived of it joins the history even when it is interrupted."""
        body = self.body(prompt)
        heard: list[str] = []
        try:
            with closing(self._client.stream(body)) as pieces:
                for piece in pieces:
                    heard.append(piece)
                    write(CONTROL.sub("", piece))
        finally:
            if heard:
                self.history = (*body.messages, ChatMessage("assistant", "".join(heard)))

    def reset(self) -> None:
        """Forget all but the system message."""
        self.history = self._opening


def converse(session: ChatSession, read_line: Callable[[], str], write: Write, talk: Callable[[str], None]) -> None:
    """Turn after turn until /exit or the end of input; a failed turn is reported and the next may succeed."""
    talk("/exit leaves, /reset starts anew, Ctrl-C stops an answer.")
    while True:
        try:
            line = read_line().strip()
        except EOFError:
            return
        if line == "/exit":
            return
        if line == "/reset":
            session.reset()
            talk("The conversation starts anew.")
        elif line.startswith("/"):
            talk(f"{line.split()[0]} is not a command; there are /exit and /reset.")
        elif line:
            _turn(session, line, write, talk)


def _turn(session: ChatSession, line: str, write: Write, talk: Callable[[str], None]) -> None:
    try:
        session.send(line, write)
    except KeyboardInterrupt:
        write("\n")
        talk("(stopped)")
    except HeterodyneError as error:
        write("\n")
        talk(f"heterodyne: {error.message}")
    else:
        write("\n")
