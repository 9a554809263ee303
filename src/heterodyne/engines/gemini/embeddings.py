"""OpenAI's embeddings as Gemini's, and its vectors as OpenAI's."""

from base64 import b64encode
from struct import pack
from typing import Any

import msgspec
from msgspec import Struct

from heterodyne.domain.errors import EngineGarbage, InvalidField
from heterodyne.domain.request import Request
from heterodyne.engines.gemini.answer import GeneratedStruct, GeneratedUsage
from heterodyne.engines.hosted.asked_chat import Members
from heterodyne.engines.hosted.carried import rest_of

Json = dict[str, Any]

KNOWN = frozenset({"model", "input", "dimensions", "encoding_format", "user"})


class AskedVectors(Struct):
    """Texts to be embedded; tokens are another tokenizer's."""

    input: str | list[Any]
    dimensions: int | None = None
    user: str | None = None


class GeneratedVector(GeneratedStruct):
    values: list[float]


class GeneratedVectors(GeneratedStruct):
    """As many as were asked for."""

    embeddings: list[GeneratedVector]
    usage_metadata: GeneratedUsage | None = None


_asked = msgspec.json.Decoder(AskedVectors).decode
_members = msgspec.json.Decoder(Members).decode
_generated = msgspec.json.Decoder(GeneratedVectors).decode
_encode = msgspec.json.Encoder().encode


def embed_body(request: Request, model: str) -> tuple[bytes, tuple[str, ...]]:
    """One request for each text, and what is not in any."""
    asked = _asked(request.body)
    texts = [asked.input] if isinstance(asked.input, str) else asked.input
    if not all(isinstance(text, str) for text in texts):
        raise InvalidField("input: texts are expected; the provider has another tokenizer.", param="input")
    more: Json = rest_of(_members(request.body), KNOWN)
    if asked.dimensions is not None:
        more["outputDimensionality"] = asked.dimensions
    told = [{"model": f"models/{model}", "content": {"parts": [{"text": text}]}, **more} for text in texts]
    return _encode({"requests": told}), ("user",) if asked.user else ()


def vectors_answer(request: Request, body: bytes) -> bytes:
    """OpenAI's list; raises msgspec.DecodeError or EngineGarbage for what is none."""
    said = _generated(body)
    if len(said.embeddings) != request.prompts:
        raise EngineGarbage(f"The provider gave {len(said.embeddings)} vectors for {request.prompts} texts.")
    data = [
        {"object": "embedding", "index": index, "embedding": _vector(one.values, in_base64=request.wants_base64)}
        for index, one in enumerate(said.embeddings)
    ]
    # Without a count of its own, null: the gateway then says that it has estimated.
    count = None if said.usage_metadata is None else said.usage_metadata.prompt_token_count
    usage = None if count is None else {"prompt_tokens": count, "total_tokens": count}
    return _encode({"object": "list", "data": data, "model": request.model, "usage": usage})


def _vector(values: list[float], *, in_base64: bool) -> list[float] | str:
    return b64encode(pack(f"<{len(values)}f", *values)).decode() if in_base64 else values
