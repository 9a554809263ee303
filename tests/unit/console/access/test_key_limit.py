"""How many wrong keys may be tried."""

import pytest

from heterodyne.console.access.key_limit import ADDRESSES_MAX, KEYS_MAX, KEYS_OF_ADDRESS_MAX, WINDOW_S, KeyLimit
from heterodyne.console.errors import TooManySignIns

HERE = "10.0.0.1"


def is_open(limit: KeyLimit, address: str, now_s: float = 1.0) -> bool:
    try:
        limit.check(address, now_s)
    except TooManySignIns:
        return False
    return True


def test_an_address_with_many_wrong_keys_waits_and_others_do_not() -> None:
    limit = KeyLimit()
    for number in range(KEYS_OF_ADDRESS_MAX):
        limit.check(HERE, 100.0)
        limit.note_wrong(HERE, f"guess {number}", 100.0)
    with pytest.raises(TooManySignIns) as caught:
        limit.check(HERE, 130.0)
    assert caught.value.retry_after_s == WINDOW_S - 30
    limit.check("10.0.0.2", 130.0)
    limit.check(HERE, 100.0 + WINDOW_S)


def test_a_program_that_goes_on_with_an_old_key_guesses_nothing() -> None:
    limit = KeyLimit()
    for _ in range(10 * KEYS_OF_ADDRESS_MAX):
        limit.note_wrong(HERE, "the key of last year", 0.0)
    assert is_open(limit, HERE)


def test_where_very_many_guess_together_each_may_be_wrong_once_and_a_right_key_from_elsewhere_works() -> None:
    limit = KeyLimit()
    for number in range(KEYS_MAX):
        limit.note_wrong(f"10.1.{number // 250}.{number % 250}", "a guess", 0.0)
    assert not is_open(limit, "10.1.0.7")
    assert is_open(limit, "192.0.2.1"), "whoever has been wrong not once"
    limit.note_wrong("192.0.2.1", "a guess", 1.0)
    assert not is_open(limit, "192.0.2.1", 2.0)
    assert is_open(limit, "10.1.0.7", WINDOW_S)


def test_addresses_of_one_network_of_ipv6_count_as_one() -> None:
    limit = KeyLimit()
    for number in range(KEYS_OF_ADDRESS_MAX):
        limit.note_wrong(f"2001:db8::{number:x}", f"guess {number}", 0.0)
    assert not is_open(limit, "2001:db8::ffff")
    assert is_open(limit, "2001:db8:0:1::1")


def test_an_address_is_the_same_in_either_spelling() -> None:
    limit = KeyLimit()
    for number in range(KEYS_OF_ADDRESS_MAX):
        limit.note_wrong(f"::ffff:{HERE}", f"guess {number}", 0.0)
    assert not is_open(limit, HERE)


def test_what_is_remembered_is_bounded() -> None:
    limit = KeyLimit()
    for number in range(ADDRESSES_MAX + 50):
        limit.note_wrong(f"10.{number // 65536}.{number // 256 % 256}.{number % 256}", "guess", number * WINDOW_S)
    assert len(limit._by_address) == ADDRESSES_MAX
    for number in range(1000):
        limit.note_wrong("10.0.0.1", f"guess {number}", 0.0)
    assert len(limit._by_address["10.0.0.1"]._digests) == KEYS_OF_ADDRESS_MAX
