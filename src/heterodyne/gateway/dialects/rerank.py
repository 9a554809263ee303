"""POST /v1/rerank, in the shape that Jina and Cohere made customary, and /v1/score, in vLLM's."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta, Raw, Struct

from heterodyne.domain.errors import InvalidField
from heterodyne.domain.operation import Operation
from heterodyne.domain.request import Request
from heterodyne.gateway.dialects.body import ModelName, check_count, decode
from heterodyne.gateway.dialects.members import bytes_of, listed, private, read_members
from heterodyne.gateway.settings import GatewaySettings

Item = str | dict[str, Raw]  # a text, or parts of several kinds for models that see
RERANK_API = frozenset({"documents", "max_tokens_per_doc", "model", "query", "return_documents", "top_n"})
SCORE_PAIRS = (("text_1", "text_2"), ("queries", "documents"), ("data_1", "data_2"))
SCORE_API = frozenset({"model", *(name for pair in SCORE_PAIRS for name in pair)})
STEERING = frozenset({"max_tokens_per_doc", "model", "return_documents", "top_n"})


class RerankFields(Struct):
    """A question, and the texts that may answer it."""

    model: ModelName
    query: Item
    documents: Annotated[list[Item], Meta(min_length=1)]
    top_n: Annotated[int, Meta(ge=0)] | None = None
    return_documents: bool | None = None
    max_tokens_per_doc: Annotated[int, Meta(ge=1)] | None = None


class ScoreFields(Struct):
    """One text and those that it is compared with, or two lists of one length, under any of three pairs of names."""

    model: ModelName
    text_1: Any = None
    text_2: Any = None
    queries: Any = None
    documents: Any = None
    data_1: Any = None
    data_2: Any = None


_rerank = msgspec.json.Decoder(RerankFields)
_score = msgspec.json.Decoder(ScoreFields)


def read_rerank(body: bytes, request_id: str, deadline_s: float, settings: GatewaySettings) -> Request:
    """Body bytes to a request."""
    fields = decode(_rerank, body)
    check_count("documents", "texts", len(fields.documents), settings.prompts_max)
    return _request(Operation.RERANK, fields.model, body, request_id, deadline_s, prompts=len(fields.documents))


def read_score(body: bytes, request_id: str, deadline_s: float, settings: GatewaySettings) -> Request:
    """Body bytes to a request."""
    fields = decode(_score, body)
    given = [(getattr(fields, left), getattr(fields, right), right) for left, right in SCORE_PAIRS]
    pairs = [(left, right, name) for left, right, name in given if left is not None and right is not None]
    if len(pairs) != 1:
        raise InvalidField("text_1: give `text_1` and `text_2`, and no other pair of texts.", param="text_1")
    left, right, name = pairs[0]
    compared = max(len(side) if isinstance(side, list) else 1 for side in (left, right))
    check_count(name, "texts", compared, settings.prompts_max)
    return _request(Operation.SCORE, fields.model, body, request_id, deadline_s, prompts=compared)


def _request(
    operation: Operation, model: str, body: bytes, request_id: str, deadline_s: float, *, prompts: int
) -> Request:
    members, value_bytes = read_members(body)
    own = private(members, RERANK_API if operation is Operation.RERANK else SCORE_API)
    return Request(
        id=request_id,
        operation=operation,
        model=model,
        body=body,
        private_fields=listed(own) if own else (),
        prompt_chars=value_bytes - bytes_of(members, STEERING),
        prompts=prompts,
        deadline_s=deadline_s,
    )
