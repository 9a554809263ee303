"""The forms of Gemini's answers, for the API description."""

from msgspec import Raw, Struct


class GeminiAnswered(Struct, rename="camel"):
    """A part of one."""


class AnsweredContent(GeminiAnswered):
    """What the model says: words, thoughts, functions to call."""

    role: str
    parts: list[dict[str, Raw]]


class GeminiCandidate(GeminiAnswered):
    """One of the answers."""

    content: AnsweredContent
    index: int
    finish_reason: str | None = None


class GeminiUsage(GeminiAnswered):
    """Tokens read and written."""

    prompt_token_count: int
    candidates_token_count: int
    total_token_count: int
    thoughts_token_count: int = 0
    cached_content_token_count: int = 0


class GeminiAnswer(GeminiAnswered):
    """A whole answer, or the data of one event of a streamed one."""

    candidates: list[GeminiCandidate]
    model_version: str
    response_id: str
    usage_metadata: GeminiUsage | None = None


class GeminiCount(GeminiAnswered):
    """Tokens of a prompt."""

    total_tokens: int


class GeminiVector(GeminiAnswered):
    """Of one text."""

    values: list[float]


class GeminiEmbedding(GeminiAnswered):
    """The vector of one text."""

    embedding: GeminiVector


class GeminiEmbeddings(GeminiAnswered):
    """A vector per text, in their order."""

    embeddings: list[GeminiVector]


class GeminiModel(GeminiAnswered):
    """A model that can be asked."""

    name: str
    display_name: str
    version: str


class GeminiModels(GeminiAnswered):
    """Every model of this gateway."""

    models: list[GeminiModel]


class GeminiErrorDetail(Struct):
    """What happened, in the words of Google's APIs."""

    code: int
    message: str
    status: str


class GeminiError(Struct):
    """Gemini's error shape."""

    error: GeminiErrorDetail
