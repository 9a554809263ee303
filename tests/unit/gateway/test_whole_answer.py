"""What an answer that came whole is to its client: an answer, an error, the next call, or something to wait for."""

import msgspec

from heterodyne.domain.errors import EngineGarbage, EngineRefused, HeterodyneError
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.gateway.attempt import Attempt
from heterodyne.gateway.offload.answering import ANSWER_BYTES_LARGE, TranslatedAnswer
from heterodyne.gateway.whole_answer import REFUSAL_BYTES_MAX, read_whole
from heterodyne.ports.engine_request import EngineRequest
from heterodyne.routing.health.outcome import Outcome
from heterodyne.testing.behaviours import chat_answer
from tests.support.attempt_owners import RecordingOwner
from tests.support.request_paths import RequestPath, chat, replicas, whole

Read = TranslatedAnswer | EngineRequest | HeterodyneError | None


class Reading:
    """One attempt whose answer has come; `taken` is what was heard later."""

    def __init__(self, body: bytes, status: int = 200, *, engine: str = "vllm", **facts: object) -> None:
        self.path = RequestPath(*replicas("a", engine=engine))
        self.request: Request = chat(**{"stream": False, **facts})
        owner = RecordingOwner()
        self.attempt: Attempt = self.path.attempt(owner, self.request)
        self.attempt.start()
        self.path.network.turn()
        with self.path.network.running():
            self.path.engine().feed(whole(body, status))
        self.pieces = owner.pieces
        self.taken: list[Read] = []

    def read(self) -> Read:
        offload = self.path.upstream.offload
        with self.path.network.running():
            return read_whole(self.attempt, self.request, self.pieces, offload, owner=b"salt", take=self._take)

    def _take(self, attempt: Attempt, answer: Read) -> None:
        assert attempt is self.attempt
        self.taken.append(answer)


def test_a_short_answer_is_read_at_once_with_what_its_engine_counted() -> None:
    body = msgspec.json.encode(chat_answer())
    answer = Reading(body).read()
    assert isinstance(answer, TranslatedAnswer)
    assert (answer.pieces, answer.is_error) == ([body], False)
    assert answer.usage is not None
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (7, 3)


def test_a_long_answer_is_read_beside_the_worker_and_heard_of_later() -> None:
    body = msgspec.json.encode(chat_answer("x" * ANSWER_BYTES_LARGE))
    reading = Reading(body)
    assert (reading.read(), reading.taken, reading.path.upstream.offload.jobs) == (None, [], 1)
    reading.path.do_jobs()
    [answer] = reading.taken
    assert isinstance(answer, TranslatedAnswer)
    assert answer.usage is not None
    assert (answer.pieces, answer.usage.prompt_tokens, answer.usage.completion_tokens) == ([body], 7, 3)


def test_a_long_answer_that_its_attempt_no_longer_waits_for_is_not_heard_of() -> None:
    reading = Reading(b"x" * (ANSWER_BYTES_LARGE + 1))
    reading.read()
    reading.attempt.end(Outcome.CANCELLED)
    assert reading.path.upstream.offload.jobs == 0
    reading.path.do_jobs()
    assert reading.taken == []


def test_an_error_is_put_in_the_words_of_the_dialect() -> None:
    answer = Reading(b'{"error":{"message":"temperature too high"}}', 400).read()
    assert isinstance(answer, EngineRefused)
    assert (answer.status, answer.message) == (400, "temperature too high")


def test_of_an_error_only_the_beginning_is_read() -> None:
    body = msgspec.json.encode({"error": {"message": "long"}, "more": "x" * REFUSAL_BYTES_MAX})
    answer = Reading(body, 400).read()
    assert isinstance(answer, EngineRefused)
    assert answer.message == "The engine refused with status 400."


def test_a_stream_that_was_answered_with_something_else_is_garbage() -> None:
    assert isinstance(Reading(b"{}", stream=True).read(), EngineGarbage)


def test_an_answer_that_is_not_json_is_garbage() -> None:
    assert isinstance(Reading(b"<html>").read(), EngineGarbage)


def test_an_error_under_the_status_200_is_known_as_one() -> None:
    answer = Reading(b'{"error":{"message":"no"}}').read()
    assert isinstance(answer, TranslatedAnswer)
    assert answer.is_error


def test_an_engine_may_have_to_be_asked_once_more() -> None:
    answer = Reading(b'{"prompt":"rendered"}', engine="llamacpp", operation=Operation.TOKENIZE).read()
    assert isinstance(answer, EngineRequest)
    assert (answer.path, b'"content":"rendered"' in answer.body) == ("/tokenize", True)
