"""Requests as bytes."""

import msgspec

MODEL = "scripted"
CHAT = {"model": MODEL, "messages": [{"role": "user", "content": "hi"}]}


def post(path: str, body: bytes, *headers: str) -> bytes:
    """A POST of JSON."""
    lines = "".join(f"{header}\r\n" for header in ("host: localhost", "content-type: application/json", *headers))
    return f"POST {path} HTTP/1.1\r\n{lines}content-length: {len(body)}\r\n\r\n".encode() + body


def get(path: str, *headers: str, method: str = "GET") -> bytes:
    """A request without a body."""
    lines = "".join(f"{header}\r\n" for header in ("host: localhost", *headers))
    return f"{method} {path} HTTP/1.1\r\n{lines}\r\n".encode()


def chat(*headers: str, **fields: object) -> bytes:
    """A chat completion; fields are added to a minimal body."""
    return post("/v1/chat/completions", chat_body(**fields), *headers)


def chat_body(**fields: object) -> bytes:
    """The body of a chat completion."""
    return msgspec.json.encode({**CHAT, **fields})
