"""Pure: text fit to be shown. Addresses in it lose their users and passwords, and the values of their queries.

Whatever prints, logs or stores an address that an operator gave goes through here; errors do so when they are made.
"""

import re
from collections.abc import Mapping
from typing import Any

HIDDEN = "***"
WEB = ("http", "https", "ws", "wss")
# Of a query these say how, not who; anything else may be a signature, a token or a key.
SHOWN = frozenset({"sslmode", "connect_timeout", "application_name", "target_session_attrs", "db", "protocol"})

_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*)://([^\s\"'<>`]*)")
_PASSWORD = re.compile(r"\b(password|passwd|pwd)=[^\s&;,\"']+", re.IGNORECASE)


def without_secrets(text: str) -> str:
    """The text with `***` in place of what it should not say."""
    if "://" in text:
        text = _ADDRESS.sub(_shown, text)
    if "=" in text:
        text = _PASSWORD.sub(rf"\1={HIDDEN}", text)
    return text


def shown(value: Any) -> Any:
    """The same of every text in a value of the settings, however deep."""
    if isinstance(value, str):
        return without_secrets(value)
    if isinstance(value, Mapping):
        return {key: shown(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(shown(one) for one in value)
    return value


def origin_of(url: str) -> str:
    """Scheme, host and port alone, for addresses whose path is the secret; the whole is hidden where it has none."""
    found = _ADDRESS.match(without_secrets(url))
    if found is None:
        return HIDDEN
    host = re.split(r"[/?#]", found[2], maxsplit=1)[0].rpartition("@")[2]
    return f"{found[1]}://{host}/{HIDDEN}"


def _shown(found: re.Match[str]) -> str:
    scheme, rest = found[1], found[2]
    rest, hash_mark, _fragment = rest.partition("#")
    place, question_mark, query = rest.partition("?")
    authority, slash, path = place.partition("/")
    if "@" in authority:
        authority = f"{HIDDEN}@{authority.rpartition('@')[2]}"
    elif "@" in path and scheme.lower() not in WEB:  # a password with a slash in it, which should have been %2F
        authority, slash, path = "", "", f"{HIDDEN}@{path.rpartition('@')[2]}"
    shown_query = "&".join(_parameter(one) for one in query.split("&")) if query else ""
    return f"{scheme}://{authority}{slash}{path}{question_mark}{shown_query}{hash_mark}{HIDDEN if hash_mark else ''}"


def _parameter(one: str) -> str:
    name, equals, _value = one.partition("=")
    if not equals:
        return HIDDEN
    return one if name.lower() in SHOWN else f"{name}={HIDDEN}"
