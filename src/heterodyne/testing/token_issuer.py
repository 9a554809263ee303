"""An OpenID Connect issuer over real TLS: discovery, keys, tokens as asked for, and a sign-in without a person.

Needs the extra `oidc`. It runs in its caller's loop; what it signs wrongly on purpose is asked for by name.
"""

import asyncio
import base64
import hashlib
import hmac
import secrets
import ssl
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

import jwt
import msgspec
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

HEAD_TIMEOUT_S: Final = 10.0


class TokenIssuer:
    """One of them, on a port of this machine."""

    def __init__(self, tls: ssl.SSLContext) -> None:
        self._tls = tls
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._keys: dict[str, tuple[str, Any]] = {}  # how it signs and with what, by `kid`
        self._codes: dict[str, dict[str, str]] = {}  # of sign-ins that have come back, with what was asked
        self.port = 0
        self.asked: list[str] = []  # the paths
        self.forms: list[dict[str, str]] = []  # what the token endpoint was sent
        self.person: dict[str, Any] = {"sub": "ada"}  # whoever signs in
        self.refuses_sign_in = ""  # the error that a browser is sent back with; empty: none
        self.client_secret = ""  # empty: a public client
        self.client_secret_ways: tuple[str, ...] = ("client_secret_basic", "client_secret_post")
        self.calls_itself: str | None = None  # another issuer; None: as it is
        self.rotate("first")

    @property
    def url(self) -> str:
        """As its tokens name it."""
        return f"https://127.0.0.1:{self.port}/realm"

    async def open(self) -> None:
        """Listen: on the same port as before, where there was one."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port, ssl=self._tls)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Be away."""
        if self._server is not None:
            self._server.close()
        for writer in tuple(self._writers):
            writer.transport.abort()

    def rotate(self, name: str, *, algorithm: str = "ES256", keeps_others: bool = False) -> None:
        """Sign with a new key from now on; the others are taken back."""
        if not keeps_others:
            self._keys.clear()
        is_rsa = algorithm[:2] in ("RS", "PS")
        key = rsa.generate_private_key(65537, 2048) if is_rsa else ec.generate_private_key(ec.SECP256R1())
        self._keys[name] = algorithm, key

    def token(self, *, kid: str | None = None, headers: Mapping[str, Any] | None = None, **claims: Any) -> str:
        """A good one for the audience `gateway`, but for the claims that are given; None leaves one out."""
        now = time.time()
        given = {"iss": self.url, "sub": "ada", "aud": "gateway", "iat": now, "exp": now + 600, **claims}
        name = kid or list(self._keys)[-1]
        algorithm, key = self._keys[name]
        said = {claim: value for claim, value in given.items() if value is not None}
        return jwt.encode(said, key, algorithm=algorithm, headers={"kid": name, **(headers or {})})

    def unsigned(self, **claims: Any) -> str:
        """One that says `alg: none`."""
        return jwt.encode({"iss": self.url, "exp": time.time() + 600, "aud": "gateway", **claims}, "", algorithm="none")

    def signed_by_what_all_know(self, **claims: Any) -> str:
        """One whose signature is made with the public key, as if that were a secret that two share."""
        said = {"iss": self.url, "sub": "ada", "exp": time.time() + 600, "aud": "gateway", **claims}
        name = list(self._keys)[-1]
        header = {"alg": "HS256", "typ": "JWT", "kid": name}
        message = ".".join(_written(msgspec.json.encode(part)) for part in (header, said))
        public = self._keys[name][1].public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        signature = hmac.digest(public, message.encode(), "sha256")
        return f"{message}.{_written(signature)}"

    def _told(self, name: str) -> dict[str, Any]:
        algorithm, key = self._keys[name]
        told: dict[str, Any] = jwt.get_algorithm_by_name(algorithm).to_jwk(key.public_key(), as_dict=True)
        return {**told, "kid": name, "use": "sig", "alg": algorithm}

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            with suppress(OSError, asyncio.IncompleteReadError):
                await self._answer(reader, writer)
        finally:
            self._writers.discard(writer)
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        target = head.split(" ", 2)[1]
        lines = {line.partition(":")[0].lower(): line.partition(":")[2].strip() for line in head.split("\r\n")[1:]}
        body = await reader.readexactly(int(lines.get("content-length", "0")))
        parts = urlsplit(target)
        self.asked.append(parts.path)
        said: dict[str, Any]
        match parts.path.removeprefix("/realm"):
            case "/.well-known/openid-configuration":
                status, headers, said = "200 OK", "", self._documents()
            case "/keys":
                status, headers, said = "200 OK", "", {"keys": [self._told(name) for name in self._keys]}
            case "/authorize":
                status, headers, said = "302 Found", f"location: {self.signed_in(parts.query)}\r\n", {}
            case "/token":
                status, headers, said = self._exchanged(_form(body.decode()), lines.get("authorization", ""))
            case _:
                status, headers, said = "404 Not Found", "", {}
        content = msgspec.json.encode(said)
        written = f"HTTP/1.1 {status}\r\n{headers}content-type: application/json\r\ncontent-length: {len(content)}\r\n"
        writer.write(f"{written}connection: close\r\n\r\n".encode() + content)
        await writer.drain()

    def _documents(self) -> dict[str, Any]:
        return {
            "token_endpoint_auth_methods_supported": self.client_secret_ways,
            "issuer": self.calls_itself or self.url,
            "jwks_uri": f"{self.url}/keys",
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
        }

    def signed_in(self, query: str) -> str:
        """Where the browser goes back to; the person is known already."""
        asked = _form(query)
        if self.refuses_sign_in:
            back = {"error": self.refuses_sign_in, "state": asked["state"]}
        else:
            code = secrets.token_urlsafe(8)
            self._codes[code] = asked
            back = {"code": code, "state": asked["state"]}
        return f"{asked['redirect_uri']}?{urlencode(back)}"

    def _exchanged(self, form: dict[str, str], authorization: str) -> tuple[str, str, dict[str, Any]]:
        """A code for a token: once, for whoever asked for it, and who knows what its challenge was made of."""
        self.forms.append(form)
        asked = self._codes.pop(form.get("code", ""), {})
        challenge = _written(hashlib.sha256(form.get("code_verifier", "").encode()).digest())
        is_good = (
            asked.get("code_challenge") == challenge
            and asked.get("redirect_uri") == form.get("redirect_uri")
            and self._shown(form, authorization) == self.client_secret
        )
        if not is_good:
            return "400 Bad Request", "", {"error": "invalid_grant"}
        token = self.token(**{"aud": asked["client_id"], "nonce": asked.get("nonce"), **self.person})
        return "200 OK", "", {"id_token": token, "access_token": secrets.token_urlsafe(8), "token_type": "Bearer"}

    def _shown(self, form: dict[str, str], authorization: str) -> str:
        """The client's secret, as it was sent."""
        if not authorization:
            return form.get("client_secret", "")
        pair = base64.b64decode(authorization.removeprefix("Basic ")).decode()
        return unquote(pair.partition(":")[2])


def _form(text: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(text).items()}


def _written(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()
