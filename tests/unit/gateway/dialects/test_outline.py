"""Long texts are left out of what is parsed, and everything that is unusual is left to the parser."""

import msgspec
import pytest

from heterodyne.domain.errors import InvalidField
from heterodyne.gateway.dialects import chat
from heterodyne.gateway.dialects.outline import MARK_BYTES, QUOTES_MAX, TEXT_BYTES, try_outline
from heterodyne.gateway.dialects.plain_ascii import PLAIN_ASCII, PlainAscii
from heterodyne.gateway.settings import GatewaySettings

LONG = b"long " * TEXT_BYTES
SETTINGS = GatewaySettings()


@pytest.fixture(autouse=True, params=["before numpy is there", "with numpy"])
def plain_ascii(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same is found by both ways."""
    PLAIN_ASCII.fetch()
    if request.param != "with numpy":
        monkeypatch.setattr(PLAIN_ASCII, "_numpy", None)
        monkeypatch.setattr(PLAIN_ASCII, "_fetching", "not now")


def body(content: bytes = LONG, more: bytes = b"") -> bytes:
    return b'{"model":"m","messages":[{"role":"user","content":"%b"}]%b}' % (content, more)


def test_an_outline_has_a_mark_where_the_text_was() -> None:
    outline = try_outline(body())
    assert outline is not None
    assert (outline.body, outline.texts) == (body(MARK_BYTES), 1)
    assert len(outline.body) + outline.more_bytes == len(body())
    assert outline.fill(b"a" + MARK_BYTES + b"b") == b"a" + LONG + b"b"


@pytest.mark.parametrize(
    "text",
    [
        LONG + b"\\n" + LONG,
        LONG + b'\\"',
        LONG + b"\\\\",
        LONG + b'\\\\\\" \\\\',
        LONG + "长 ü".encode(),
        LONG + b"\x7f",
    ],
)
def test_any_text_that_json_may_have_is_left_out(text: bytes) -> None:
    outline = try_outline(body(text))
    assert outline is not None
    assert outline.body == body(MARK_BYTES)


@pytest.mark.parametrize(
    "text",
    [
        b"short",
        LONG + b"\n",  # a control character
        LONG + b"\x00" + LONG,
        LONG + b"\xff",
        LONG + b"\xed\xa0\x80",  # half of a surrogate pair
        LONG + b"\\q",
        LONG + b"\\u12",
        LONG + b"\\ud800",
        LONG + b"\\",  # the quote behind it is no end
        LONG + b'" \\"',
        b'\\"' * QUOTES_MAX + LONG,
        b"\\n" * len(LONG),  # so many escapes take long
    ],
)
def test_what_is_unusual_is_read_whole(text: bytes) -> None:
    assert chat.try_read_long(body(text), "id", 1.0, SETTINGS) is None


@pytest.mark.parametrize(
    "more",
    [
        b',"metadata":{"content":"%b"}' % LONG,  # it is not shown to the model, and its bytes count less
        b',"content":"%b"' % LONG,
        b',"tools":[{"type":"function","text":"%b"}]' % LONG,
        b',"messages":[{"role":"user","content":""}]',
        b',"messages":[{"role":"user","content":"%b"}]' % LONG,
        b',"\\u006e":1',
        b',"n":1,"n":2',
        b',"n":0',
        b"]",
    ],
)
def test_marks_in_other_places_and_whatever_is_refused_are_read_whole(more: bytes) -> None:
    assert chat.try_read_long(body(more=more), "id", 1.0, SETTINGS) is None


def test_a_mark_in_a_field_that_is_no_text_is_not_counted() -> None:
    marked = b',"user":"%b"' % MARK_BYTES
    assert chat.try_read_long(body(more=marked), "id", 1.0, SETTINGS) is not None


def test_parts_of_a_message_are_texts_too() -> None:
    parts = [{"type": "text", "text": LONG.decode()}, {"type": "image_url", "image_url": {"url": "data:" + "x" * 9000}}]
    whole = msgspec.json.encode({"model": "m", "messages": [{"role": "user", "content": parts}]})
    by_outline, by_parser = chat.try_read_long(whole, "id", 1.0, SETTINGS), chat.read(whole, "id", 1.0, SETTINGS)
    assert by_outline is not None
    assert by_outline.prompt_chars == by_parser.prompt_chars
    assert by_outline.body is whole


def test_bounds_hold_for_what_is_read_by_its_outline() -> None:
    with pytest.raises(InvalidField, match="choices were asked for"):
        chat.try_read_long(body(more=b',"n":1000'), "id", 1.0, SETTINGS)


def test_numpy_is_there_soon_after_the_first_long_text() -> None:
    plain_ascii = PlainAscii()
    assert plain_ascii.try_check(LONG, 0, len(LONG)) is None
    assert plain_ascii._fetching is not None
    plain_ascii._fetching.join(30)
    assert plain_ascii.try_check(LONG, 0, len(LONG)) is True
    assert plain_ascii.try_check(LONG + b"\n", 0, len(LONG) + 1) is False
    assert plain_ascii.try_check(LONG + "ü".encode(), 0, len(LONG) + 2) is False
