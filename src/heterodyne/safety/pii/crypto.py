"""Addresses of crypto currencies, which carry their own checksums."""

import re
from typing import Final

from heterodyne.safety.pii.checksums import base58_check, bech32
from heterodyne.safety.pii.keccak import keccak_256
from heterodyne.safety.pii.recogniser import LIKELY, Recogniser, words

WALLET: Final = words("wallet", "eth", "ethereum", "ether", "crypto", "address", "token", "erc20", "btc", "bitcoin")


def is_eip_55(text: str) -> bool:
    """Whether the capitals of an Ethereum address are its checksum (EIP-55)."""
    body = text[2:]
    digest = keccak_256(body.lower().encode()).hex()
    return all(one.isdigit() or one.isupper() == (digest[place] > "7") for place, one in enumerate(body))


def _is_one_case(text: str) -> bool:
    body = text[2:]
    return body in (body.lower(), body.upper())


CRYPTO: Final = (
    Recogniser(
        rule="crypto_address",
        is_long=True,
        score=1.0,
        check=base58_check,
        pattern=re.compile(r"(?<!\w)[13][1-9A-HJ-NP-Za-km-z]{25,34}(?!\w)"),
    ),
    Recogniser(
        rule="crypto_address",
        is_long=True,
        score=1.0,
        check=bech32,
        pattern=re.compile(r"(?<!\w)(?:bc|tb)1[ac-hj-np-z02-9]{11,71}(?!\w)", re.IGNORECASE),
    ),
    Recogniser(
        rule="crypto_address",
        is_long=True,
        score=1.0,
        check=is_eip_55,
        pattern=re.compile(r"(?<!\w)0x[0-9A-Fa-f]{40}(?!\w)"),
    ),
    Recogniser(
        rule="crypto_address",
        is_long=True,
        score=0.4,
        check=_is_one_case,
        context=WALLET,
        raised=LIKELY + 0.2,
        pattern=re.compile(r"(?<!\w)0x[0-9A-Fa-f]{40}(?!\w)"),
    ),
)
