"""Check digits, one function per scheme. Each takes plain digits and says whether the last ones are right."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Final

BASE58: Final = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
BECH32: Final = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
BECH32_GENERATORS: Final = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)
BECH32_CONSTANTS: Final = (1, 0x2BC830A3)  # version 0, and Bech32m of BIP 350 for the later ones
LUHN_DOUBLED: Final = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)

# Verhoeff's scheme is the multiplication table of the dihedral group D5 and powers of one permutation.
VERHOEFF_PRODUCT: Final = (
    "0123456789",
    "1234067895",
    "2340178956",
    "3401289567",
    "4012395678",
    "5987604321",
    "6598710432",
    "7659821043",
    "8765932104",
    "9876543210",
)
VERHOEFF_PERMUTED: Final = (
    "0123456789",
    "1576283094",
    "5803796142",
    "8916043527",
    "9453126870",
    "4286573901",
    "2793806415",
    "7046913258",
)


def luhn(digits: str) -> bool:
    """Cards, Canadian SIN, Swedish personnummer, NPI: every second digit doubled, from the right."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        total += LUHN_DOUBLED[int(digit)] if place % 2 else int(digit)
    return total % 10 == 0


def weighted(digits: str, weights: Sequence[int]) -> int:
    """The sum of digits, each times its weight; digits without a weight are left out."""
    return sum(int(digit) * weight for digit, weight in zip(digits, weights, strict=False))


def mod_97_10(text: str) -> bool:
    """ISO 7064 MOD 97-10 of an IBAN: the first four characters go last, letters count from 10."""
    turned = text[4:] + text[:4]
    return int("".join(str(int(one, 36)) for one in turned)) % 97 == 1


def mod_11_10(digits: str) -> bool:
    """ISO 7064 MOD 11,10: the German tax identification number."""
    product = 10
    for digit in digits[:-1]:
        total = (int(digit) + product) % 10 or 10
        product = total * 2 % 11
    return (11 - product) % 10 == int(digits[-1])


def mod_11_2(text: str) -> bool:
    """ISO 7064 MOD 11-2: the Chinese resident identity number, whose last character may be X."""
    total = 0
    for digit in text[:-1]:
        total = (total + int(digit)) * 2 % 11
    return "0123456789X"[(12 - total) % 11] == text[-1].upper()


def verhoeff(digits: str) -> bool:
    """The Indian Aadhaar number."""
    value = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(VERHOEFF_PRODUCT[value][int(VERHOEFF_PERMUTED[place % 8][int(digit)])])
    return value == 0


def icao_731(text: str) -> int:
    """The check digit of a machine-readable travel document (ICAO 9303): weights 7, 3, 1, letters from 10."""
    return sum(int(one, 36) * (7, 3, 1)[place % 3] for place, one in enumerate(text)) % 10


def base58_check(text: str) -> bool:
    """Whether a Bitcoin address in Base58Check is whole: 25 bytes that end in a doubled SHA-256 of the others."""
    value = 0
    for one in text:
        digit = BASE58.find(one)
        if digit < 0:
            return False
        value = value * 58 + digit
    if value >> 200:
        return False
    raw = value.to_bytes(25, "big")
    return sha256(sha256(raw[:-4]).digest()).digest()[:4] == raw[-4:]


def bech32(text: str) -> bool:
    """Whether a segwit address (BIP 173 and 350) is whole."""
    if text != text.lower() and text != text.upper():
        return False
    prefix, _, data = text.lower().rpartition("1")
    values = [ord(one) >> 5 for one in prefix] + [0] + [ord(one) & 31 for one in prefix]
    for one in data:
        digit = BECH32.find(one)
        if digit < 0:
            return False
        values.append(digit)
    remainder = 1
    for value in values:
        top = remainder >> 25
        remainder = (remainder & 0x1FFFFFF) << 5 ^ value
        for place, generator in enumerate(BECH32_GENERATORS):
            if top >> place & 1:
                remainder ^= generator
    return remainder in BECH32_CONSTANTS
