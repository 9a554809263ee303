"""Pure: one line of a batch's input, understood as far as it must be before it is sent."""

from typing import Annotated, Final

import msgspec
from msgspec import Meta, Raw, Struct

from heterodyne.batches.batch import BatchProblem

MODERATIONS: Final = "/v1/moderations"  # whose clients need not name a model
ENDPOINTS: Final = (
    *("/v1/chat/completions", "/v1/completions", "/v1/embeddings", "/v1/responses", "/v1/messages"),
    *(MODERATIONS, "/v1/rerank", "/v1/score"),
)
CUSTOM_ID_CHARS_MAX: Final = 512
NO_STREAM: Final = "stream: answers in a batch come whole."


class LineFields(Struct):
    """What a line says."""

    custom_id: Annotated[str, Meta(min_length=1, max_length=CUSTOM_ID_CHARS_MAX)]
    url: str
    body: Raw
    method: str = "POST"


class BodyFields(Struct):
    """Of a request, what is looked at before it is sent. Prompts are left as they came."""

    model: str = ""
    stream: bool | None = None
    tools: Raw = Raw(b"")
    system: Raw = Raw(b"")
    instructions: Raw = Raw(b"")
    messages: Raw = Raw(b"")
    prompt: Raw = Raw(b"")
    input: Raw = Raw(b"")
    query: Raw = Raw(b"")

    @property
    def prompt_parts(self) -> tuple[Raw, ...]:
        """What the model reads, in the order in which templates put it."""
        return self.tools, self.system, self.instructions, self.messages, self.prompt, self.input, self.query


_decode_line = msgspec.json.Decoder(LineFields).decode
_decode_body = msgspec.json.Decoder(BodyFields).decode


class BatchLine(Struct, frozen=True, kw_only=True):
    """One that can be sent."""

    number: int  # counted from 1
    custom_id: str
    body: bytes
    model: str
    prompt_parts: tuple[Raw, ...]


class LineProblem(Exception):  # not an end of anything: the other lines run
    """It cannot be sent."""

    def __init__(self, custom_id: str, problem: BatchProblem) -> None:
        super().__init__(problem.message)
        self.custom_id = custom_id  # empty: not even that is known
        self.problem = problem


def read_line(number: int, line: bytes, endpoint: str) -> BatchLine:
    """Raises LineProblem."""
    try:
        fields = _decode_line(line)
    except msgspec.ValidationError as error:
        raise _problem(number, "", "invalid_line", f"Line {number}: {error}.") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _problem(number, "", "invalid_json_line", f"Line {number} is not JSON: {error}.") from error
    if fields.method != "POST":
        raise _problem(
            number, fields.custom_id, "invalid_method", f"Line {number}: method: POST is expected.", "method"
        )
    if fields.url != endpoint:
        told = f"Line {number}: url: {endpoint} is expected, as the batch says; it is {fields.url[:100]!r}."
        raise _problem(number, fields.custom_id, "invalid_url", told, "url")
    return _read_body(number, fields.custom_id, bytes(fields.body), endpoint)


def _read_body(number: int, custom_id: str, body: bytes, endpoint: str) -> BatchLine:
    try:
        asked = _decode_body(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:  # of which an error of validation is one
        raise _problem(number, custom_id, "invalid_request", f"Line {number}: body: {error}.", "body") from error
    if not asked.model and endpoint != MODERATIONS:
        told = f"Line {number}: body.model: the name of a model is expected."
        raise _problem(number, custom_id, "invalid_request", told, "body.model")
    if asked.stream:
        raise _problem(number, custom_id, "invalid_request", f"Line {number}: body.{NO_STREAM}", "body.stream")
    return BatchLine(number=number, custom_id=custom_id, body=body, model=asked.model, prompt_parts=asked.prompt_parts)


def _problem(number: int, custom_id: str, code: str, message: str, param: str | None = None) -> LineProblem:
    return LineProblem(custom_id, BatchProblem(code=code, message=message, line=number, param=param))
