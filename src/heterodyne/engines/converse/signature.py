"""AWS's Signature Version 4: pure, a request and a time in, the lines that sign it out.

A path is taken as it is sent, escapes and all, and escaped once more, as every service of theirs but S3 has it.
"""

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final
from urllib.parse import quote

from msgspec import Struct

ALGORITHM: Final = "AWS4-HMAC-SHA256"
SCOPE_END: Final = "aws4_request"
PLAIN: Final = "-_.~"  # what is never escaped beside letters and digits
DATE: Final = "x-amz-date"
TOKEN: Final = "x-amz-security-token"  # noqa: S105  # the name of a header


class AwsKeys(Struct, frozen=True, kw_only=True):
    """Who signs, and for which region."""

    access_key_id: str
    secret_access_key: str
    session_token: str = ""  # of keys that end some day; empty: they do not
    region: str

    def __repr__(self) -> str:
        return f"AwsKeys({self.access_key_id!r}, region={self.region!r})"


def signed_headers(
    keys: AwsKeys,
    service: str,
    at_s: float,
    *,
    method: str,
    path: str,
    query: Sequence[tuple[str, str]] = (),
    headers: Mapping[str, str],
    body: bytes,
) -> dict[str, str]:
    """The headers to add to those that are signed with them; `headers` has the host among its lower-case names."""
    at = datetime.fromtimestamp(at_s, UTC).strftime("%Y%m%dT%H%M%SZ")
    added = {DATE: at} | ({TOKEN: keys.session_token} if keys.session_token else {})
    signed = {**headers, **added}
    names = ";".join(sorted(signed))
    scope = f"{at[:8]}/{keys.region}/{service}/{SCOPE_END}"
    canonical = canonical_request(method, path, query, signed, body)
    to_sign = "\n".join((ALGORITHM, at, scope, hashlib.sha256(canonical.encode()).hexdigest()))
    signature = _mac(_signing_key(keys, at[:8], service), to_sign).hex()
    credential = f"Credential={keys.access_key_id}/{scope}"
    return {"authorization": f"{ALGORITHM} {credential}, SignedHeaders={names}, Signature={signature}", **added}


def canonical_request(
    method: str, path: str, query: Sequence[tuple[str, str]], headers: Mapping[str, str], body: bytes
) -> str:
    """The one spelling of a request that both sides sign."""
    lines = "".join(f"{name}:{' '.join(headers[name].split())}\n" for name in sorted(headers))
    escaped = sorted((quote(name, safe=PLAIN), quote(value, safe=PLAIN)) for name, value in query)
    return "\n".join(
        (
            method,
            quote(_normal(path), safe="/" + PLAIN),
            "&".join(f"{name}={value}" for name, value in escaped),
            lines,
            ";".join(sorted(headers)),
            hashlib.sha256(body).hexdigest(),
        )
    )


def _normal(path: str) -> str:
    """Without empty segments and dots."""
    kept: list[str] = []
    for segment in path.split("/"):
        if segment == "..":
            del kept[-1:]
        elif segment not in ("", "."):
            kept.append(segment)
    ending = "/" if kept and path.endswith("/") else ""
    return "/" + "/".join(kept) + ending


def _signing_key(keys: AwsKeys, day: str, service: str) -> bytes:
    key = f"AWS4{keys.secret_access_key}".encode()
    for part in (day, keys.region, service, SCOPE_END):
        key = _mac(key, part)
    return key


def _mac(key: bytes, text: str) -> bytes:
    return hmac.digest(key, text.encode(), "sha256")
