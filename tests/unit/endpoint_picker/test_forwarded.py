"""What a forwarded request is read as."""

import pytest

from heterodyne.domain.errors import MethodNotAllowed
from heterodyne.endpoint_picker import forwarded
from heterodyne.gateway.dialects import chat, completion
from heterodyne.gateway.routing_hints import read_routing_hints


@pytest.mark.parametrize(
    ("path", "is_found"),
    [
        (b"/v1/chat/completions", True),
        (b"/team/llama/v1/chat/completions", True),
        (b"/" + b"a/" * 40 + b"v1/chat/completions", False),
        (b"/v1/chat/others", False),
        (b"", False),
    ],
)
def test_a_path_may_have_what_a_proxy_takes_away_before_it(path: bytes, is_found: bool) -> None:
    assert (forwarded._find(path, b"POST") is not None) is is_found


def test_another_method_of_a_path_is_named_unless_something_comes_before_it() -> None:
    with pytest.raises(MethodNotAllowed):
        forwarded._find(b"/v1/embeddings", b"PUT")
    assert forwarded._find(b"/team/v1/embeddings", b"PUT") is None


@pytest.mark.parametrize(
    ("body", "read"),
    [
        (b'{"messages":[]}', chat.read),
        (b'{"prompt":"x"}', completion.read),
        (b'{"input":"x"}', None),
        (b"[1]", None),
        (b"\xff", None),
        (b"[" * 100_000, None),
    ],
)
def test_a_body_behind_an_unknown_path_tells_what_it_is(body: bytes, read: object) -> None:
    assert forwarded._reader_of(body) is read


def test_promises_are_read_under_the_names_of_others_and_ours_go_first() -> None:
    theirs = {b"x-slo-ttft-ms": b"500", b"x-slo-tpot-ms": b"40"}
    hints = read_routing_hints(forwarded._with_promises(theirs))
    assert (hints.ttft_slo_s, hints.itl_slo_s) == (0.5, 0.04)
    both = read_routing_hints(forwarded._with_promises({**theirs, b"x-heterodyne-slo-ttft-ms": b"100"}))
    assert both.ttft_slo_s == 0.1
