"""What is kept of bodies: redacted whatever their spelling, cut to a length, readable."""

import json

import pytest

from heterodyne.audit.content import kept_answer, kept_body


def event(**delta: object) -> bytes:
    return b"data: " + json.dumps({"choices": [{"index": 0, "delta": delta}]}).encode() + b"\n\n"


def test_escapes_hide_nothing() -> None:
    assert kept_body(rb'{"content":"bob\u0040example.com\n030 90182015"}', 1000) == r'{"content":"[email]\n[phone]"}'


def test_a_field_named_like_a_secret_is_one() -> None:
    assert kept_body(b'{"password":"abc","max_tokens":5}', 1000) == '{"password":"[secret]","max_tokens":5}'


def test_a_card_as_a_number_and_an_address_as_a_name_are_taken_out() -> None:
    assert kept_body(b'{"a@b.c":4111111111111111,"n":[1,2.5,null,true]}', 1000) == (
        '{"[email]":"[card]","n":[1,2.5,null,true]}'
    )


@pytest.mark.parametrize("body", [b"plain a@b.c", b"\xff\xfe a@b.c", b"[" * 100_000 + b"a@b.c", b'{"a@b.c'])
def test_what_is_no_json_is_redacted_as_text(body: bytes) -> None:
    kept = kept_body(body, 200_000)
    assert "a@b.c" not in kept
    assert "[email]" in kept


def test_words_cut_between_events_are_joined_before_they_are_redacted() -> None:
    pieces = [event(role="assistant"), event(content="write to bo"), event(content="b@exam"), event(content="ple.com")]
    assert kept_answer([*pieces, b"data: [DONE]\n\n"], 1000) == "write to [email]"


def test_an_event_cut_anywhere_is_put_together() -> None:
    whole = event(content="bob@") + event(content="example.com")
    assert kept_answer([whole[:40], whole[40:41], whole[41:]], 1000) == "[email]"


def test_choices_are_told_apart_and_tools_are_heard() -> None:
    one = b'data: {"choices":[{"index":1,"text":"b@"},{"index":0,"text":"a"}]}\n\n'
    two = b'data: {"choices":[{"index":1,"text":"c.d"}]}\n\n'
    assert kept_answer([one, two], 1000) == "a\n[email]"
    call = event(tool_calls=[{"function": {"name": "mail ", "arguments": '{"to":"a@b.c"}'}}])
    assert kept_answer([call], 1000) == 'mail {"to":"[email]"}'


def test_events_of_another_shape_are_counted_not_kept() -> None:
    assert kept_answer([b'data: {"delta":"bob@"}\n\ndata: \xff\n\ndata: nonsense\n\n'], 1000) == "[3 other events]"


def test_a_long_text_is_cut_without_halving_what_is_secret() -> None:
    text = ("x " * 50 + "4111 1111 1111 1111 ") * 200
    for length in range(100, 130):
        kept = kept_body(text.encode(), length)
        assert "4111" not in kept
        assert len(kept) <= length + len("[cut]")


def test_long_json_is_cut_and_stays_json() -> None:
    body = json.dumps({"messages": [{"content": "word " * 1000} for _ in range(50)], "last": "a"}).encode()
    kept = kept_body(body, 2000)
    assert len(kept) < 4000
    assert "[cut]" in kept
    json.loads(kept)


def test_many_numbers_are_cut_too() -> None:
    kept = kept_body(json.dumps({"embedding": [0.125] * 100_000}).encode(), 800)
    assert len(kept) < 10_000
    json.loads(kept)
