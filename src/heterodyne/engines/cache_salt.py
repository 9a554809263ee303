"""What keeps one project's prompts apart from another's in an engine's cache of KV.

An engine that heeds it counts it as a part of the prompt, so that nobody is answered sooner because somebody else has
asked the same. It is sent by the gateway alone. Engines show it where they tell of their blocks, so it says nothing of
whose it is.
"""

from functools import lru_cache
from hashlib import sha256
from typing import Final

import msgspec

SALT: Final = "cache_salt"
HEX_DIGITS: Final = 32

_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


@lru_cache(maxsize=4096)
def cache_salt(tenant: bytes) -> str:
    """What engines are told for this tenant."""
    return sha256(b"cache_salt\0" + tenant).hexdigest()[:HEX_DIGITS]


def salt_member(salt: str) -> bytes:
    """Of a JSON object."""
    return b'"cache_salt":"' + salt.encode() + b'"'


def combined(body: bytes, salt: str) -> bytes:
    """With the salt that the body has itself, which keeps prompts of one project apart."""
    own = bytes(_members(body).get(SALT, b""))
    return b'"' + sha256(salt.encode() + own).hexdigest()[:HEX_DIGITS].encode() + b'"'
