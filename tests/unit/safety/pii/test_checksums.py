"""Check digits hold for whole numbers and fail when one digit is changed."""

import pytest

from heterodyne.safety.pii.checksums import (
    base58_check,
    bech32,
    icao_731,
    luhn,
    mod_11_2,
    mod_11_10,
    mod_97_10,
    verhoeff,
)
from heterodyne.safety.pii.days import is_day
from heterodyne.safety.pii.keccak import keccak_256

# Published examples of the schemes.
WHOLE = [
    (luhn, "79927398713"),
    (mod_97_10, "GB82WEST12345698765432"),
    (mod_97_10, "DE89370400440532013000"),
    (mod_11_10, "86095742719"),
    (mod_11_2, "11010519491231002X"),
    (verhoeff, "2363"),
    (base58_check, "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2"),
    (bech32, "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"),
    (bech32, "BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4"),
]


@pytest.mark.parametrize(("check", "number"), WHOLE)
def test_a_published_example_is_whole(check, number):
    assert check(number)


@pytest.mark.parametrize(("check", "number"), WHOLE)
def test_another_character_in_the_middle_is_noticed(check, number):
    middle = len(number) // 2
    other = "3" if number[middle] != "3" else "4"
    assert not check(number[:middle] + other + number[middle + 1 :])


def test_a_passport_number_has_the_check_digit_of_its_machine_readable_zone():
    assert icao_731("L898902C3") == 6  # the example of ICAO 9303


def test_keccak_is_the_hash_of_ethereum_and_not_sha_3():
    assert keccak_256(b"").hex() == "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"
    assert keccak_256(b"abc").hex() == "4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45"


@pytest.mark.parametrize(
    ("day", "exists"),
    [
        ((2024, 2, 29), True),
        ((2023, 2, 29), False),
        ((1900, 2, 29), False),
        ((2000, 2, 29), True),
        ((2024, 13, 1), False),
    ],
)
def test_a_day_exists_or_not(day, exists):
    assert is_day(*day) is exists
