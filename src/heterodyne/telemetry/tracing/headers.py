"""Headers for the collector, as an environment variable has them: `key=value,key=value`."""

import re
from urllib.parse import unquote

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[\x20-\x7e]*")


def read_headers(text: str) -> dict[str, str]:
    """Values may be percent-encoded; raises ValueError, without the text, which may be secret."""
    headers = {}
    for number, pair in enumerate(filter(None, (one.strip() for one in text.split(","))), 1):
        name, equals, value = pair.partition("=")
        name, value = name.strip().lower(), unquote(value.strip())
        if not equals or not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
            raise ValueError(f"pair {number} is not of the form key=value")
        headers[name] = value
    return headers
