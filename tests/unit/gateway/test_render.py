"""Answers as bytes."""

import msgspec
import pytest

from heterodyne.domain import errors
from heterodyne.gateway import render


def test_a_whole_answer_has_its_length_and_says_when_the_connection_ends() -> None:
    assert render.whole(200, b"a: b\r\n", b"{}", keeps_alive=True) == (
        b"HTTP/1.1 200 OK\r\na: b\r\ncontent-length: 2\r\n\r\n{}"
    )
    assert render.whole(404, b"", b"{}", keeps_alive=False) == (
        b"HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}"
    )


def test_an_answer_to_head_has_the_length_and_not_the_body() -> None:
    assert render.whole(200, b"", b"{}", keeps_alive=True, is_head=True).endswith(b"content-length: 2\r\n\r\n")


def test_a_stream_is_framed_only_for_those_who_understand_it() -> None:
    assert b"transfer-encoding: chunked\r\n" in render.stream_head(b"", chunked=True, keeps_alive=True)
    assert render.stream_head(b"", chunked=False, keeps_alive=False).endswith(b"connection: close\r\n\r\n")


@pytest.mark.parametrize(
    ("error", "openai_type", "code"),
    [
        (errors.InvalidField("m", param="a.b"), "invalid_request_error", "invalid_value"),
        (errors.Unauthenticated("m"), "authentication_error", "invalid_api_key"),
        (errors.Overloaded("m"), "overloaded_error", "overloaded"),
        (errors.DeadlineExceeded("m"), "timeout_error", "deadline_exceeded"),
        (errors.EngineBroke("m"), "server_error", "engine_broke"),
        (errors.EngineRefused("m", status=429), "rate_limit_error", "engine_refused"),
        (errors.EngineRefused("m", status=400, code="its_own"), "invalid_request_error", "its_own"),
        (errors.InternalError("m"), "server_error", "internal_error"),
    ],
)
def test_an_error_has_the_shape_openai_clients_know(error: errors.HeterodyneError, openai_type: str, code: str) -> None:
    body = msgspec.json.decode(render.error_body(error))
    assert body == {"error": {"message": "m", "type": openai_type, "param": error.param, "code": code}}
    assert render.error_event(error) == b"data: " + render.error_body(error) + b"\n\n"


def test_an_errors_headers_say_what_to_do() -> None:
    assert b"retry-after: 7\r\n" in render.error_headers(errors.Overloaded("m", retry_after_s=7))
    assert b"retry-after: 1\r\n" in render.error_headers(errors.EngineUnavailable("m"))
    assert b"retry-after" not in render.error_headers(errors.InvalidField("m"))
    assert b"allow: GET\r\n" in render.error_headers(errors.MethodNotAllowed("m", allow="GET"))
    assert b"www-authenticate: Bearer\r\n" in render.error_headers(errors.Unauthenticated("m"))


def test_the_date_is_written_as_http_wants_it_and_once_a_second() -> None:
    times = iter((784111777.1, 784111777.9, 784111778.0))
    identity = render.IdentityHeaders(lambda: next(times))
    assert identity.of("req_1").endswith(b"date: Sun, 06 Nov 1994 08:49:37 GMT\r\n")
    first = identity._date
    identity.of("req_2")
    assert identity._date is first
    assert identity.of("req_3") == (
        b"x-request-id: req_3\r\nx-heterodyne-request-id: req_3\r\ndate: Sun, 06 Nov 1994 08:49:38 GMT\r\n"
    )


def test_every_status_an_error_has_has_words() -> None:
    for one in vars(errors).values():
        if isinstance(one, type) and issubclass(one, errors.HeterodyneError) and one.status != 499:
            assert b"Unknown" not in render.whole(one.status, b"", b"", keeps_alive=True)
