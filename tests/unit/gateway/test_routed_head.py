"""A head that says what the one before it on its connection said is not looked at again, unless something changed."""

import pytest
from msgspec import structs

from heterodyne.admission.callers import LOCAL, CallerRing
from heterodyne.admission.host_names import HostNames
from heterodyne.domain.tenant import Caller, TenantSnapshot
from heterodyne.gateway.routed_head import RoutedHead
from heterodyne.gateway.routes import find
from heterodyne.wire.message import HttpRequest

PATH = b"/v1/chat/completions"
HEADERS = {b"host": b"localhost", b"authorization": b"Bearer hd-1", b"content-type": b"application/json"}
RING = CallerRing(TenantSnapshot(), is_keyless=True)
NAMES = HostNames((), has_keys=True)


def asked(method: bytes = b"POST", path: bytes = PATH, **headers: bytes) -> HttpRequest:
    changed = {name.replace("_", "-").encode(): value for name, value in headers.items()}
    return HttpRequest(
        method=method, path=path, query=b"", headers=HEADERS | changed, keep_alive=True, speaks_chunked=True
    )


def head(caller: Caller = LOCAL) -> RoutedHead:
    return RoutedHead(asked(), find(PATH), caller, RING, NAMES)


def test_the_same_head_holds_whatever_else_it_says() -> None:
    assert head().holds_for(asked(), RING, NAMES, 0.0)
    assert head().holds_for(asked(x_request_id=b"7", content_length=b"9"), RING, NAMES, 0.0)


@pytest.mark.parametrize(
    "other",
    [
        asked(authorization=b"Bearer hd-2"),
        asked(authorization=b""),
        asked(host=b"evil.example"),
        asked(content_type=b"text/plain"),
        asked(content_encoding=b"gzip"),
        asked(path=b"/v1/completions"),
        asked(method=b"GET"),
    ],
)
def test_another_key_name_form_path_or_method_is_looked_at(other: HttpRequest) -> None:
    assert not head().holds_for(other, RING, NAMES, 0.0)


def test_other_keys_or_names_of_the_gateway_and_a_key_that_is_over_are_looked_at() -> None:
    assert not head().holds_for(asked(), CallerRing(TenantSnapshot(), is_keyless=True), NAMES, 0.0)
    assert not head().holds_for(asked(), RING, HostNames((), has_keys=True), 0.0)
    ending = head(structs.replace(LOCAL, expires_at=10.0))
    assert ending.holds_for(asked(), RING, NAMES, 9.9)
    assert not ending.holds_for(asked(), RING, NAMES, 10.0)


def test_a_key_in_the_header_of_another_api_is_looked_at_where_that_api_is() -> None:
    def messages(key: bytes | None) -> HttpRequest:
        headers = {b"host": b"localhost", b"content-type": b"application/json"}
        more = {} if key is None else {b"x-api-key": key}
        return HttpRequest(
            method=b"POST",
            path=b"/v1/messages",
            query=b"",
            headers=headers | more,
            keep_alive=True,
            speaks_chunked=True,
        )

    for first in (None, b"hd-1"):
        known = RoutedHead(messages(first), find(b"/v1/messages"), LOCAL, RING, NAMES)
        assert known.holds_for(messages(first), RING, NAMES, 0.0)
        for other in {None, b"hd-1", b"hd-2"} - {first}:
            assert not known.holds_for(messages(other), RING, NAMES, 0.0)
    assert head().holds_for(asked(x_api_key=b"hd-3"), RING, NAMES, 0.0), "nowhere else does it say anything"
