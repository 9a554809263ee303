"""Change top-level members of a JSON object and leave every other byte as it came."""

import msgspec

_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_key = msgspec.json.encode


def put_first(body: bytes, member: bytes) -> bytes:
    """Add a member that the object is known not to have."""
    start = body.index(b"{") + 1
    separator = b"" if body[start:].lstrip()[:1] == b"}" else b","
    return body[:start] + member + separator + body[start:]


def replace(body: bytes, changes: dict[str, bytes]) -> bytes:
    """Set members to the given JSON values, keeping the bytes of all others."""
    members: dict[str, bytes | msgspec.Raw] = {**_members(body), **changes}
    return b"{" + b",".join(_key(name) + b":" + bytes(value) for name, value in members.items()) + b"}"
