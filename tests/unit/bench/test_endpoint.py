"""The address of the server under test."""

import pytest

from heterodyne.bench.endpoint import parse_endpoint
from heterodyne.domain.errors import SettingsInvalid
from heterodyne.domain.operation import Operation


@pytest.mark.parametrize(
    ("url", "start"),
    [
        ("http://127.0.0.1:8080", b"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1:8080\r\n"),
        ("127.0.0.1:8080/", b"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1:8080\r\n"),
        ("https://api.example.com/v1/", b"POST /v1/chat/completions HTTP/1.1\r\nhost: api.example.com:443\r\n"),
        ("http://[::1]:80/openai", b"POST /openai/chat/completions HTTP/1.1\r\nhost: [::1]:80\r\n"),
    ],
)
def test_a_bare_address_means_its_v1(url: str, start: bytes) -> None:
    assert parse_endpoint(url).post(Operation.CHAT, b"{}").startswith(start)


def test_a_request_says_its_length_and_key() -> None:
    request = parse_endpoint("http://h", api_key="sk-1").post(Operation.EMBEDDING, b'{"a":1}')
    assert b"authorization: Bearer sk-1\r\n" in request
    assert request.endswith(b'content-length: 7\r\n\r\n{"a":1}')


@pytest.mark.parametrize("url", ["ftp://h", "http://", "http://h:port", "http://h/a b"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(SettingsInvalid):
        parse_endpoint(url)


def test_a_key_cannot_smuggle_a_header() -> None:
    with pytest.raises(SettingsInvalid):
        parse_endpoint("http://h", api_key="a\r\nx: y")
