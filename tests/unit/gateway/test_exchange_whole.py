"""One exchange whose answer comes whole: what is made good elsewhere, what is not, and mistakes of ours."""

import msgspec
import pytest

from heterodyne.domain.errors import InvalidField
from heterodyne.domain.fleet import Replica
from heterodyne.domain.operation import Operation
from heterodyne.testing.behaviours import chat_answer
from tests.support.attempt_owners import AdapterClaims
from tests.support.exchanges import Exchanging
from tests.support.request_paths import MistakenDialect, RequestPath, replicas, whole

ANSWER = msgspec.json.encode(chat_answer())


def test_a_whole_answer_goes_to_the_client_and_is_written_down() -> None:
    one = Exchanging(stream=False)
    one.engine().feed(whole(ANSWER))
    record = one.record()
    assert (one.status, one.body) == (200, ANSWER)
    assert (record.status, record.reason, record.completion_tokens) == (200, "", 3)
    assert one.path.outcomes() == ["success"]


def test_a_failure_before_the_answer_is_made_good_elsewhere() -> None:
    one = Exchanging("a", "b", stream=False)
    one.engine("a").lose()
    one.engine("b").feed(whole(ANSWER))
    assert (one.status, one.record().retries, one.record().replica) == (200, 1, "b")


def test_a_failure_that_nobody_can_make_good_is_answered_with_the_engines_advice() -> None:
    one = Exchanging(stream=False)
    one.engine().feed(whole(b"{}", 503, "retry-after: 7"))
    assert (one.status, b"retry-after: 7\r\n" in one.client.written) == (503, True)
    assert one.record().status == 503


def test_an_error_of_the_callers_is_not_retried() -> None:
    one = Exchanging("a", "b", stream=False)
    one.engine("a").feed(whole(b'{"error":{"message":"temperature too high"}}', 400))
    assert (one.status, b"temperature too high" in one.body) == (400, True)
    assert (one.record().retries, one.path.outcomes("a")) == (0, ["caller_error"])


def test_an_answer_that_is_an_error_under_the_status_200_is_retried() -> None:
    one = Exchanging("a", "b", stream=False)
    one.engine("a").feed(whole(b'{"error":{"message":"no"}}'))
    one.engine("b").feed(whole(ANSWER))
    assert (one.status, one.record().retries) == (200, 1)


def test_an_engine_that_has_to_be_asked_twice_is() -> None:
    path = RequestPath(*replicas("a", engine="llamacpp"))
    one = Exchanging(path=path, stream=False, operation=Operation.TOKENIZE)
    one.engine().feed(whole(b'{"prompt":"rendered"}'))
    one.engine().feed(whole(b'{"tokens":[1,2]}'))
    assert (one.status, msgspec.json.decode(one.body)["count"], one.path.outcomes()) == (200, 2, ["success"])
    assert one.record().retries == 0


def test_a_large_body_that_its_engine_has_no_words_for_is_the_callers_error() -> None:
    path = RequestPath(*replicas("a", "b", engine="tgi"))
    with path.network.running():
        one = Exchanging(path=path, is_large=True, choices=2)
    path.do_jobs()
    assert (one.status, one.record().reason, one.path.outcomes()) == (400, InvalidField.code, ["caller_error"])


class MistakenAdapters(AdapterClaims):
    """With a mistake of ours."""

    def use(self, replica: Replica, name: str) -> AdapterClaims:
        raise ZeroDivisionError


def test_a_mistake_of_ours_in_an_answer_is_answered_500() -> None:
    one = Exchanging(path=RequestPath(*replicas("a", "b"), dialects={"vllm": MistakenDialect()}), stream=False)
    one.engine().feed(whole(ANSWER))
    assert (one.status, one.record().reason, one.record().retries) == (500, "internal_error", 0)


def test_a_mistake_of_ours_at_the_start_is_answered_500() -> None:
    path = RequestPath(*replicas("a", adapters={"lora": None}), adapters=MistakenAdapters())
    one = Exchanging(path=path, model="lora")
    assert (one.status, one.record().reason) == (500, "internal_error")


def test_what_an_engine_cannot_be_asked_is_raised_before_anything_is_held() -> None:
    path = RequestPath(*replicas("a", engine="tgi"))
    with pytest.raises(InvalidField):
        Exchanging(path=path, choices=2)
    assert (path.upstream.limit.by_replica, path.health.in_flight) == ({}, 0)
