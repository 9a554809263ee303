"""A body that is read by its outline is read as the whole body is, and no other is read that way."""

import json

from hypothesis import given
from hypothesis import strategies as st

from heterodyne.domain.errors import HeterodyneError
from heterodyne.domain.request import FIELDS, Request
from heterodyne.gateway.dialects.chat import read, try_read_long
from heterodyne.gateway.dialects.outline import TEXT_BYTES
from heterodyne.gateway.settings import GatewaySettings
from tests.support.splits import bounded

SETTINGS = GatewaySettings()
FRAGMENTS = [
    "text ",
    'a "quoted" word ' * 40,
    "back\\slash ",
    "line\n",
    "ü",
    "长",
    "😀",
    "{[,]}:",
    '"',
    "\\",
    '\\"',
    "\\u0041",
]
fragments = st.sampled_from(FRAGMENTS)
short = st.text(max_size=5) | fragments
long = st.builds(
    lambda fragment, rest: (fragment + "x" * 100) * (TEXT_BYTES // (len(fragment) + 100) + 1) + rest, fragments, short
)
parts = st.builds(lambda text: {"type": "text", "text": text}, long | short)
picture = st.builds(
    lambda data: {"type": "image_url", "image_url": {"url": f"data:{data}", "text": data, "content": data}},
    long | short,
)
contents = long | short | st.none() | st.lists(parts | picture, max_size=3)
messages = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "system"]), "content": contents},
    optional={"name": short, "tool_calls": st.just([{"id": "1", "type": "function"}]), "extra": contents},
)
bodies = st.fixed_dictionaries(
    {"model": st.just("m"), "messages": st.lists(messages, min_size=1, max_size=4)},
    optional={
        "metadata": st.builds(lambda text: {"content": text}, long | short),
        "content": long | short,
        "top_k": st.just(1),
        "tools": st.builds(lambda text: [{"type": "function", "text": text}], long | short),
        "stop": long | short,
    },
)
writers = st.sampled_from([{}, {"separators": (",", ":")}, {"ensure_ascii": False}, {"indent": 1}])
BYTES = [b"", b'"', b"\\", b"\n", b"\x00", b"\xff", b"\xe4", b"{", b"}", b",", b" ", b'"content":"', b"\\u12"]


def what_is_read(body: bytes, *, is_long: bool) -> tuple[object, ...] | None:
    """The request, or the refusal."""
    try:
        request: Request | None
        request = (try_read_long if is_long else read)(body, "id", 1.0, SETTINGS)
    except HeterodyneError as error:
        return type(error), str(error), getattr(error, "param", None)
    if request is None:
        return None
    assert request.prompt is not None
    fields = {name: getattr(request, name) for name in FIELDS}
    return {**fields, "prompt": None}, request.prompt.whole(), request.prompt.opening()


def spoilt(body: bytes, at: int, length: int, put: bytes) -> bytes:
    at %= len(body)
    return body[:at] + put + body[at + length :]


@bounded
@given(bodies, writers)
def test_a_body_is_read_the_same_by_its_outline(document: dict[str, object], style: dict[str, object]) -> None:
    body = json.dumps(document, **style).encode("utf-8", "surrogatepass")
    found = what_is_read(body, is_long=True)
    assert found is None or found == what_is_read(body, is_long=False)


@bounded
@given(bodies, st.integers(min_value=0), st.integers(min_value=0, max_value=3), st.sampled_from(BYTES))
def test_a_spoilt_body_is_never_read_by_its_outline_alone(
    document: dict[str, object], at: int, length: int, put: bytes
) -> None:
    body = spoilt(json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode(), at, length, put)
    found = what_is_read(body, is_long=True)
    assert found is None or found == what_is_read(body, is_long=False)
