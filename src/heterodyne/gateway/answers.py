"""The forms of our answers, for the API description; engines' answers pass as they came and may carry more."""

from typing import Literal

from msgspec import Raw, Struct


class ErrorDetail(Struct):
    """What happened, and a code a machine can count."""

    message: str
    type: str
    param: str | None  # the path of the offending field
    code: str | None


class Error(Struct):
    """OpenAI's error shape."""

    error: ErrorDetail


class PlainError(Struct):
    """The Open Inference Protocol's error shape."""

    error: str


class TokenUsage(Struct):
    """Tokens read and written."""

    prompt_tokens: int
    total_tokens: int
    completion_tokens: int = 0


class AnsweredFunction(Struct):
    """The function to call; `arguments` is JSON text."""

    name: str
    arguments: str


class AnsweredToolCall(Struct):
    """One call the model asks for."""

    id: str
    type: str
    function: AnsweredFunction


class AnsweredMessage(Struct):
    """What the model said, or the tools it wants called."""

    role: Literal["assistant"]
    content: str | None
    refusal: str | None = None
    tool_calls: list[AnsweredToolCall] | None = None


class ChatChoice(Struct):
    """One of `n` answers."""

    index: int
    message: AnsweredMessage
    finish_reason: str
    logprobs: dict[str, Raw] | None = None


class ChatCompletion(Struct):
    """A whole chat answer."""

    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    choices: list[ChatChoice]
    usage: TokenUsage | None = None


class ChunkChoice(Struct):
    """What one chunk adds to one of `n` answers."""

    index: int
    delta: dict[str, Raw]
    finish_reason: str | None = None
    logprobs: dict[str, Raw] | None = None


class ChatCompletionChunk(Struct):
    """The data of one event of a streamed chat answer; the last event's data is `[DONE]`."""

    id: str
    object: Literal["chat.completion.chunk"]
    created: int
    model: str
    choices: list[ChunkChoice]
    usage: TokenUsage | None = None


class TextChoice(Struct):
    """One of `n` texts for one of the prompts."""

    index: int
    text: str
    finish_reason: str | None
    logprobs: dict[str, Raw] | None = None


class TextCompletion(Struct):
    """A whole text answer, or the data of one event of a streamed one."""

    id: str
    object: Literal["text_completion"]
    created: int
    model: str
    choices: list[TextChoice]
    usage: TokenUsage | None = None


class Embedding(Struct):
    """One vector: numbers, or the base64 of little-endian 32-bit floats."""

    object: Literal["embedding"]
    index: int
    embedding: list[float] | str


class EmbeddingList(Struct):
    """A vector per input, in their order."""

    object: Literal["list"]
    model: str
    data: list[Embedding]
    usage: TokenUsage


class Tokens(Struct):
    """The token ids of a prompt."""

    count: int
    tokens: list[int]
    max_model_len: int | None = None


class Prompt(Struct):
    """The text of token ids."""

    prompt: str


class Model(Struct):
    """A model that can be asked."""

    id: str
    object: Literal["model"]
    created: int
    owned_by: str
    max_model_len: int | None = None
    purpose: Literal["generate", "embed", "infer"] | None = None
    parent: str | None = None  # the model a LoRA adapter belongs to
    root: str | None = None  # the model that an alias means


class ModelList(Struct):
    """Every model of this gateway."""

    object: Literal["list"]
    data: list[Model]


class Liveness(Struct):
    """The process answers."""

    status: Literal["ok"]


class Readiness(Struct):
    """Whether work is taken, and by which models."""

    status: Literal["ready", "starting", "draining"]
    models: dict[str, Literal["ready", "not_ready"]]


class Description(Struct):
    """An OpenAPI document."""

    openapi: str
    info: dict[str, Raw]
    paths: dict[str, Raw]
    components: dict[str, Raw]


class AnsweredTensor(Struct):
    """One tensor of an answer."""

    name: str
    shape: list[int]
    datatype: str
    data: list[Raw]
    parameters: dict[str, Raw] = {}


class Inference(Struct):
    """What a model made of the tensors it was given."""

    model_name: str
    outputs: list[AnsweredTensor]
    model_version: str | None = None
    id: str | None = None
    parameters: dict[str, Raw] = {}


class ServerMetadata(Struct):
    """This gateway, to clients of the Open Inference Protocol."""

    name: str
    version: str
    extensions: list[str]


class ServerLiveness(Struct):
    """The process answers."""

    live: bool


class ServerReadiness(Struct):
    """Whether work is taken."""

    ready: bool


class ModelMetadata(Struct):
    """What the fleet knows of a model; its tensors only its engine knows."""

    name: str
    platform: str
    versions: list[str] = []
    properties: dict[str, str] = {}


class ModelReadiness(Struct):
    """Whether some replica of a model can be asked."""

    name: str
    ready: bool
