"""The OpenAPI description, as the gateway serves it at /openapi.json."""

import msgspec

from heterodyne.gateway.openapi import document


def page() -> str:
    """Indented for people and for diffs."""
    return msgspec.json.format(msgspec.json.encode(document()), indent=2).decode()
