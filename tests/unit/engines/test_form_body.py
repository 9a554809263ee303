"""Forms that are held whole: what is read of them, what is refused, and one field changed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heterodyne.domain.errors import InvalidField
from heterodyne.engines.form_body import PARTS_MAX, VALUE_BYTES_MAX, Form, with_field

SOUND = b"\x00\r\n--not-a-boundary\r\n\r\n\xff"


def part(name: str, value: bytes, *, filename: str | None = None, more: bytes = b"") -> bytes:
    file = b"" if filename is None else b'; filename="%b"' % filename.encode()
    return b'--b\r\nContent-Disposition: form-data; name="%b"%b\r\n%b\r\n%b\r\n' % (name.encode(), file, more, value)


def form(*parts: bytes) -> bytes:
    return b"".join(parts) + b"--b--\r\n"


WHOLE = form(
    part("model", b"whisper"),
    part("file", SOUND, filename="a.wav", more=b"Content-Type: audio/wav\r\n"),
    part("include[]", b"logprobs"),
    part("include[]", b"other"),
    part("prompt", "é".encode()),
)


def test_fields_and_files_are_told_apart() -> None:
    read = Form(WHOLE)
    assert read.media_type == 'multipart/form-data; boundary="b"'
    assert (read.value("model"), read.value("prompt"), read.value("include[]")) == ("whisper", "é", "logprobs")
    assert (read.value("file"), read.value("none")) == (None, None)
    assert read.has_file("image", "file")
    assert not read.has_file("model")
    file = read.parts[1]
    assert (file.filename, WHOLE[file.start : file.end]) == ("a.wav", SOUND)


def test_one_field_gets_another_value_and_every_other_byte_stays() -> None:
    assert with_field(WHOLE, "model", "large") == WHOLE.replace(b"\r\nwhisper\r\n", b"\r\nlarge\r\n")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "no boundary"),
        (b"{}", "no boundary"),
        (b"--\r\n", "no boundary"),
        (b"--" + b"b" * 71 + b"\r\n", "no boundary"),
        (b'--b"\r\n', "no boundary"),
        (b"--b\r\n", "without a head"),
        (b"--b\r\n" + b"x: " + b"y" * 9000 + b"\r\n\r\n", "without a head"),
        (part("model", b"x"), "no end"),
        (part("model", b"x") + b"--bc\r\n", "in what it parts"),
        (form(part("model", b"x"), part("model", b"y")), "named twice"),
        (form(part("model", b"x", filename="f"), part("model", b"y")), "named twice"),
        (form(part("model", b"x"), part("model", b"y", filename="f")), "named twice"),
        (form(part('model"; name="other', b"x")), "plain name"),
        (form(part("model\"; name*=utf-8''other; x=\"", b"x")), "plain name"),
        (form(part("model", b"x", filename=None, more=b"X-Other: 1\r\n")), "not understood"),
        (form(part("model", b"x", more=b'Content-Disposition: form-data; name="y"\r\n')), "not understood"),
        (form(part("", b"x")), "plain name"),
        (form(part("mo del", b"x")), "plain name"),
        (form(part("prompt", b"x" * (VALUE_BYTES_MAX + 1))), "longer than"),
        (form(*[part("x[]", b"") for _ in range(PARTS_MAX + 1)]), "more than"),
        (b'--b\r\nContent-Disposition: attachment; name="x"\r\n\r\n\r\n--b--', "plain name"),
    ],
)
def test_what_could_be_read_otherwise_is_refused(body: bytes, words: str) -> None:
    with pytest.raises(InvalidField, match=words):
        Form(body)


def test_a_value_that_is_no_text_is_refused_by_its_name() -> None:
    with pytest.raises(InvalidField, match="prompt: not UTF-8") as refused:
        Form(form(part("prompt", b"\xff"))).value("prompt")
    assert refused.value.param == "prompt"


@given(st.binary(max_size=200))
def test_any_bytes_are_a_form_or_refused(body: bytes) -> None:
    try:
        read = Form(body)
    except InvalidField:
        return
    assert read.parts


@given(st.lists(st.tuples(st.sampled_from(["a", "b[]", "file"]), st.binary(max_size=64)), min_size=1, max_size=5))
def test_what_is_sent_is_what_is_read(sent: list[tuple[str, bytes]]) -> None:
    body = form(*[part(name, value, filename="f") for name, value in sent])
    if any(b"\r\n--b" in b"\r\n" + value for _, value in sent):
        return
    assert [(one.name, body[one.start : one.end]) for one in Form(body).parts] == sent
