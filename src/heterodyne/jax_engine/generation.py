"""One request being answered: what its sequences say becomes events or one whole answer."""

from collections.abc import Callable, Sequence

from msgspec import Struct

from heterodyne.jax_engine.answer_format import DONE, JaxAnswerFormat, JaxChoice, JaxUsage, ToldToken
from heterodyne.jax_engine.engine import SaidToken, Saying
from heterodyne.jax_engine.pages import JSON, refusal_page
from heterodyne.jax_engine.sequence import JaxSequence
from heterodyne.jax_engine.spoken_text import SpokenText
from heterodyne.wire.message import status_line
from heterodyne.wire.server_connection import ServerConnection

EVENTS = b"content-type: text/event-stream; charset=utf-8\r\n"


class AskedAnswer(Struct):
    """One of a request's answers."""

    sequence: JaxSequence
    spoken: SpokenText
    choice: JaxChoice
    is_over: bool = False


class JaxGeneration:
    """The turn of a connection that waits for tokens."""

    def __init__(
        self,
        answers: Sequence[AskedAnswer],
        words: JaxAnswerFormat,
        connection: ServerConnection,
        *,
        is_stream: bool,
        has_usage: bool,
        has_logprobs: bool,
        decode: Callable[[Sequence[int]], str],
        cancel: Callable[["JaxGeneration"], None],
    ) -> None:
        self.answers = answers
        self.is_over = False
        self._words = words
        self._connection = connection
        self._is_stream = is_stream
        self._has_usage = has_usage
        self._has_logprobs = has_logprobs
        self._decode = decode
        self._cancel = cancel
        self._has_begun = False

    def hear(self, index: int, saying: Saying) -> None:
        """New tokens of one answer, or its end."""
        answer = self.answers[index]
        if self.is_over or answer.is_over:
            return
        said = saying.tokens
        if said and said[-1].token in answer.sequence.stop_ids:
            said = said[:-1]  # an end is no text
        told = [self._told(one) for one in said] if self._has_logprobs else []
        text = "".join(answer.spoken.add(one.token) for one in said)
        reason = "stop" if answer.spoken.has_stopped else saying.reason
        if reason is not None:
            text += answer.spoken.end()
            answer.is_over = True
        if self._is_stream:
            self._stream(index, text, told, reason)
        else:
            answer.choice.text += text
            answer.choice.tokens += told
            answer.choice.reason = reason or ""
        if all(one.is_over for one in self.answers):
            self._end()

    def fail(self, status: int, message: str) -> None:
        """There will be no more."""
        if self.is_over:
            return
        self.is_over = True
        page = refusal_page(status, message)
        if self._has_begun:
            self._connection.write_payload(b"data: " + page.body + b"\n\n" + DONE)
            self._connection.finish_stream()
        else:
            self._connection.finish(page.encode(keeps_alive=self._connection.keeps_alive))

    def client_gone(self) -> None:
        """The client disconnected: the rest is not generated."""
        self.is_over = True
        self._cancel(self)

    def client_slow(self) -> None:
        """The device goes on regardless; an answer is bounded by its own length."""

    def client_ready(self) -> None:
        """See `client_slow`."""

    def _stream(self, index: int, text: str, told: list[ToldToken], reason: str | None) -> None:
        if not self._has_begun:
            framing = b"transfer-encoding: chunked\r\n" if self._connection.speaks_chunked else b""
            self._connection.write(status_line(200) + EVENTS + framing + self._close_line() + b"\r\n")
            openings = b"".join(self._words.opening(number) for number in range(len(self.answers)))
            if openings:
                self._connection.write_payload(openings)
            self._has_begun = True
        if text or told or reason is not None:
            self._connection.write_payload(self._words.piece(index, text, told, reason))

    def _told(self, one: SaidToken) -> ToldToken:
        top = [(self._decode([token]), said) for token, said in one.top]
        return ToldToken(self._decode([one.token]), one.log_probability, top)

    def _end(self) -> None:
        self.is_over = True
        usage = self._usage()
        if self._is_stream:
            self._connection.write_payload((self._words.usage(usage) if self._has_usage else b"") + DONE)
            self._connection.finish_stream()
            return
        body = self._words.whole([answer.choice for answer in self.answers], usage)
        head = b"%bcontent-type: %b\r\n%bcontent-length: %d\r\n\r\n" % (
            status_line(200),
            JSON,
            self._close_line(),
            len(body),
        )
        self._connection.finish(head + body)

    def _usage(self) -> JaxUsage:
        """Prompts count once however many answers they have."""
        prompts = {tuple(answer.sequence.prompt): answer.sequence.reused for answer in reversed(self.answers)}
        return JaxUsage(
            prompt_tokens=sum(map(len, prompts)),
            completion_tokens=sum(len(answer.sequence.written) for answer in self.answers),
            cached_tokens=sum(prompts.values()),
        )

    def _close_line(self) -> bytes:
        return b"" if self._connection.keeps_alive else b"connection: close\r\n"
