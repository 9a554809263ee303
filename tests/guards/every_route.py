"""A request to every path that asks an engine something, with one text in it."""

from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from heterodyne.gateway import routes
from tests.support.requests import MODEL, post


class Asked(NamedTuple):
    """How one path is asked."""

    path: str
    body: Callable[[str], dict[str, Any]]  # of a text
    is_form: bool = False
    speaks: bool = True  # its answer has words that an engine chose
    stream: dict[str, Any] | None = None  # what asks for a stream; None: there is none
    stream_path: str = ""  # where a path of its own does


def said(text: str) -> list[dict[str, str]]:
    """One turn."""
    return [{"role": "user", "content": text}]


def parts(text: str) -> dict[str, Any]:
    """The same as Gemini has it."""
    return {"contents": [{"role": "user", "parts": [{"text": text}]}]}


def with_model(**fields: Any) -> dict[str, Any]:
    return {"model": MODEL, **fields}


PLAIN = "hello"  # what is asked where only the answer matters
STREAM = {"stream": True}
GEMINI = f"/v1beta/models/{MODEL}:"
ASKED = (
    Asked("/v1/chat/completions", lambda text: with_model(messages=said(text)), stream=STREAM),
    Asked("/v1/completions", lambda text: with_model(prompt=text), stream=STREAM),
    Asked("/v1/responses", lambda text: with_model(input=text), stream=STREAM),
    Asked("/v1/responses/input_tokens", lambda text: with_model(input=text), speaks=False),
    Asked("/v1/messages", lambda text: with_model(messages=said(text), max_tokens=64), stream=STREAM),
    Asked("/v1/messages/count_tokens", lambda text: with_model(messages=said(text)), speaks=False),
    Asked("/v1/embeddings", lambda text: with_model(input=text), speaks=False),
    Asked("/v1/moderations", lambda text: with_model(input=text), speaks=False),
    Asked("/v1/rerank", lambda text: with_model(query="q", documents=["a", text])),
    Asked("/v2/rerank", lambda text: with_model(query=text, documents=["a", "b"])),
    Asked("/v1/score", lambda text: with_model(text_1="a", text_2=text), speaks=False),
    Asked("/v1/audio/speech", lambda text: with_model(input=text, voice="v"), speaks=False),
    Asked("/v1/audio/transcriptions", lambda text: with_model(prompt=text), is_form=True, stream={"stream": "true"}),
    Asked("/v1/audio/translations", lambda text: with_model(prompt=text), is_form=True),
    Asked("/v1/images/generations", lambda text: with_model(prompt=text)),
    Asked("/v1/images/edits", lambda text: with_model(prompt=text), is_form=True, speaks=False),
    Asked("/v1/images/variations", lambda text: with_model(user=text), is_form=True, speaks=False),
    Asked("/tokenize", lambda text: with_model(prompt=text), speaks=False),
    Asked("/detokenize", lambda text: with_model(tokens=[1, 2], **({} if text == PLAIN else {"note": text}))),
    Asked(f"{GEMINI}generateContent", parts, stream_path=f"{GEMINI}streamGenerateContent?alt=sse", stream={}),
    Asked(f"{GEMINI}countTokens", parts, speaks=False),
    Asked(f"{GEMINI}embedContent", lambda text: {"content": {"parts": [{"text": text}]}}, speaks=False),
    Asked(
        f"{GEMINI}batchEmbedContents",
        lambda text: {"requests": [{"model": f"models/{MODEL}", "content": {"parts": [{"text": text}]}}]},
        speaks=False,
    ),
)
TENSORS = Asked(
    "/v2/models/tensors/infer",
    lambda text: {"inputs": [{"name": "a", "shape": [1], "datatype": "BYTES", "data": [text]}]},
)


def request(asked: Asked, text: str, *, stream: bool = False) -> bytes:
    """The bytes of it."""
    fields = asked.body(text) | ((asked.stream or {}) if stream else {})
    path = asked.stream_path if stream and asked.stream_path else asked.path
    if not asked.is_form:
        return post(path, msgspec.json.encode(fields))
    made = "".join(_part(name, str(value)) for name, value in fields.items())
    name = "image" if "images" in path else "file"
    body = f'{made}--b\r\ncontent-disposition: form-data; name="{name}"; filename="a"\r\n\r\nbytes\r\n--b--\r\n'
    head = f"POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: multipart/form-data; boundary=b\r\n"
    return f"{head}content-length: {len(body)}\r\n\r\n{body}".encode()


def paths_that_infer() -> set[str]:
    """Of the routes that are spelt out."""
    return {path.decode() for path, route in routes.ROUTES.items() if route.read is not None}


def _part(name: str, value: str) -> str:
    return f'--b\r\ncontent-disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
