"""What is kept of bodies: redacted whatever their spelling, cut to a length, readable."""

import json
import time
from collections.abc import Iterator

import pytest

from heterodyne.audit.beginning import read_beginning
from heterodyne.audit.content import SHORT_BYTES, kept_answer, kept_body


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


def test_what_redaction_of_a_body_takes_does_not_grow_with_its_keys() -> None:
    def seconds(keys: int) -> float:
        body = json.dumps({f"key {number}": "a" for number in range(keys)}).encode()
        began_s = time.thread_time()
        kept = kept_body(body, 65536)
        took_s = time.thread_time() - began_s
        assert len(kept) < 4 * 65536
        json.loads(kept)
        return took_s

    some = min(seconds(20_000) for _ in range(3))
    assert min(seconds(200_000) for _ in range(3)) < 3 * some


LONG = {"z": [1, -2.5e3, True, None, {}, [], {"deep": [[["a"]]]}], "text": 'é"\\ \n' * 20_000, "last": 1}


@pytest.mark.parametrize(
    "spelling", [json.dumps(LONG), json.dumps(LONG, ensure_ascii=False), json.dumps(LONG, indent=1)]
)
def test_the_beginning_of_a_long_body_is_what_a_decoder_finds_there(spelling: str) -> None:
    assert read_beginning(spelling.encode(), 10 * len(spelling)) == LONG
    for chars in range(1, 300):
        beginning = read_beginning(spelling.encode(), chars)
        assert json.loads(json.dumps(beginning)) == beginning
        if chars > 100:
            assert beginning["z"] == LONG["z"]
            assert LONG["text"].startswith(beginning["text"][: chars - 100])  # type: ignore[attr-defined]


def test_escapes_hide_nothing_in_a_long_body() -> None:
    body = rb'{"content":"bob\u0040example.com","password":"abc",' + b'"a":"' + b"x" * SHORT_BYTES + b'"}'
    assert kept_body(body, 1000).startswith('{"content":"[email]","password":"[secret]","a":"xxx')


@pytest.mark.parametrize("wrong", [b'{"a":1 "b":2}', b"{1:2}", b'["a" "b"]', b"[nothing]", b'{"a" 1}', b'["\\x"]'])
def test_a_long_body_that_is_no_json_is_redacted_as_text(wrong: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  # whatever is wrong with it
        read_beginning(wrong, 1000)
    kept = kept_body(wrong + b" a@b.c " + b" " * SHORT_BYTES, 1000)
    assert "[email]" in kept


def test_a_long_answer_is_read_as_far_as_it_is_kept() -> None:
    def pieces() -> Iterator[bytes]:
        for number in range(1_000_000):
            assert number < 2000, "more is read than is kept"
            yield event(content="a word ")

    kept = kept_answer(pieces(), 5000)
    assert kept.startswith("a word a word")
    assert kept.endswith("[cut]")
    assert len(kept) < 5100
