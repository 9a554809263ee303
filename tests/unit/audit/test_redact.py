"""What is taken out of a text, what is left in, and that no text makes it slow."""

import re
import time
from re import _constants, _parser  # type: ignore[attr-defined]
from typing import TypeGuard

import pytest

from heterodyne.audit.redact import RULES, Sensitive, redact

TAKEN_OUT = {
    "write to bob.smith+x@mail.example.co.uk.": "write to [email].",
    "<a@b.c>": "<[email]>",
    "card 4111 1111 1111 1111, please": "card [card], please",
    "4111111111111111": "[card]",
    "4111-1111-1111-1111": "[card]",
    "amex 3782 822463 10005": "amex [card]",
    "in 2024 4111 1111 1111 1111": "in 2024 [card]",
    "5555555555554444 and 4012888888881881": "[card] and [card]",
    "IBAN DE89 3704 0044 0532 0130 00 AND MORE": "IBAN [iban] AND MORE",
    "GB82WEST12345698765432": "[iban]",
    "DE89 3704 0044 0532 0130 00 FR14 2004 1010 0505 0001 3M02 606": "[iban] [iban]",
    "call +49 (30) 901820-0 now": "call [phone] now",
    "+14155550123": "[phone]",
    "(415) 555-0123 or 415-555-0123": "[phone] or [phone]",
    "030/901820 15": "[phone]",
    "from 192.168.0.17 to 10.0.0.1.": "from [ip] to [ip].",
    "at 2001:db8::8a2e:370:7334 or ::1, fe80::1.": "at [ip] or [ip], [ip].",
    "::ffff:192.0.2.128": "[ip]",
    "Authorization: Bearer abc123def456ghi": "Authorization: Bearer [bearer]",
    "authorization: basic dXNlcjpwYXNzd29yZA==": "authorization: basic [secret]",
    "password=hunter2-and-more&x=1": "password=[secret]&x=1",
    'say {"api_key": "abcdefgh"}': 'say {"api_key": "[secret]"}',
    r"escaped {\"client_secret\": \"abcdefgh\"}": r"escaped {\"client_secret\": \"[secret]\"}",
    "postgresql://bob:pa55word@db.example.com/x": "postgresql://bob:[secret]@db.example.com/x",
    "key sk-proj-abcdefghijklmnopqrstuvwx": "key [token]",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789": "[token]",
    "AKIAIOSFODNN7EXAMPLE": "[token]",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N": "[token]",
    "x " + "a1" * 24: "x [token]",
    "data:image/png;base64,iVBORw0KGgo+/A== end": "data:image/png;base64,[data] end",
    "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4\n\nabc\n-----END RSA PRIVATE KEY-----!": "[private-key]!",
    "-----BEGIN PRIVATE KEY-----\nabc and the text ends": "[private-key]",
    "-----BEGIN PRIVATE KEY-----\nabc\n-----another line": "[private-key]-----another line",
    "It is eyJhbGciOiJIUzI1NiJ9.abc1. Or so.": "It is [token]. Or so.",
    "Write to a.b@c.example. Soon.": "Write to [email]. Soon.",
}
LEFT_IN = (
    "nothing to see here",
    "at 12:30:45 we met",
    "ratio 3:2:1",
    "std::vector<int>",
    "the year 2024, 1500 people, 3.14159",
    "4111 1111 1111 1112",  # no card: its checksum is wrong
    "version 1.2.3 of 2024-01-31",
    "bearer of good news",
    "the max_tokens: 100 setting",
    "a@b",
    "DE00 3704 1044 1532 1130 99",
    "f(x) = x + 1",
    "supercalifragilisticexpialidociousnesses-and-so-on",
)
NASTY = {  # what might make each pattern try again from everywhere
    "letters": "a",
    "digits": "1",
    "spaced digits": "4 ",
    "fours": "4444 ",
    "at signs": "a@",
    "dots": "a.",
    "address dots": "a@a.",
    "colons": "1:",
    "double colons": "1::1 ",
    "hex": "ab:cd.",
    "brackets": "+1(",
    "dashes": "-",
    "keys": "-----BEGIN PRIVATE KEY-----",
    "tokens": "eyJaaaaaaaaaa.",
    "bearers": "bearer ",
    "bearer runs": "bearer aaaaaaaa",
    "secrets": "password=",
    "ibans": "DE89 AAAA ",
    "data": "data:a;base64,",
    "urls": "://a:",
    "octets": "1.1.1.",
    "spaces": " ",
    "backslashes": "password\\",
}


@pytest.mark.parametrize(("text", "kept"), TAKEN_OUT.items(), ids=range(len(TAKEN_OUT)))
def test_what_is_personal_or_secret_is_taken_out(text: str, kept: str) -> None:
    assert redact(text).text == kept


@pytest.mark.parametrize("text", LEFT_IN)
def test_what_only_looks_like_it_is_left_in(text: str) -> None:
    assert redact(text).text == text
    assert redact(text).counts == {}


def test_each_kind_is_counted() -> None:
    redacted = redact("a@b.c, d@e.f, 10.0.0.1 and ::1")
    assert redacted.counts == {Sensitive.EMAIL: 2, Sensitive.IP: 2}


@pytest.mark.parametrize("text", TAKEN_OUT)
def test_a_redacted_text_is_left_as_it_is(text: str) -> None:
    once = redact(text).text
    assert redact(once).text == once


def unbounded(tokens: object) -> list[object]:
    """Repetitions without an end that may be given back piece by piece; only those can cost more than once through."""
    found: list[object] = []
    if isinstance(tokens, _parser.SubPattern | list | tuple):
        for token in tokens:
            if isinstance(token, tuple) and token and token[0] is _constants.ATOMIC_GROUP:
                found += [one for part in token[1] for one in unbounded(part[1][2] if is_repeat(part) else part)]
                continue
            if is_repeat(token):
                found += [token] if token[1][1] == _constants.MAXREPEAT else []
            found += unbounded(token)
    return found


def is_repeat(token: object) -> TypeGuard[tuple[object, tuple[int, object, object]]]:
    return isinstance(token, tuple) and bool(token) and token[0] in (_constants.MAX_REPEAT, _constants.MIN_REPEAT)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.kind)
def test_nothing_is_repeated_without_end_and_given_back(rule: object) -> None:
    pattern = rule.pattern.pattern  # type: ignore[attr-defined]
    assert unbounded(_parser.parse(pattern, re.ASCII)) == []
    assert unbounded(_parser.parse("a*b")) != [], "the test can tell"
    assert unbounded(_parser.parse("(?>(?:a*b)*)c")) != []
    assert unbounded(_parser.parse("(?>(?:a++b)*)c")) == []


@pytest.mark.parametrize("piece", NASTY.values(), ids=NASTY)
def test_eight_times_the_text_takes_about_eight_times_as_long(piece: str) -> None:
    def spent_s(size: int) -> float:
        """The least of a few tries: what a host takes from its guests counts as theirs."""
        text, tries = piece * (size // len(piece)), []
        for _ in range(3):
            began = time.process_time()
            redact(text)
            tries.append(time.process_time() - began)
        return min(tries)

    spent_s(1000)
    small, large = spent_s(25_000), spent_s(200_000)
    assert large < 32 * small + 0.05, "in the square it would be sixty-four times"
