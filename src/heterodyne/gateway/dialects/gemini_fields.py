"""The typed fields of Gemini's bodies, in their camel case."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from heterodyne.gateway.dialects.body import ModelName, Name, StopText, Word
from heterodyne.gateway.dialects.generation_fields import Count


class GeminiStruct(Struct, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """What has no place here is refused by its path."""


class InlineData(GeminiStruct):
    """A picture in the body."""

    mime_type: Word
    data: str
    display_name: str | None = None


class FileData(GeminiStruct):
    """A picture at an address."""

    file_uri: str
    mime_type: Word | None = None
    display_name: str | None = None


class CalledFunction(GeminiStruct):
    """A call that the model has asked for."""

    name: Name
    args: dict[str, Any] | None = None
    id: Name | None = None


class FunctionResult(GeminiStruct):
    """What a call gave."""

    name: Name
    response: dict[str, Any]
    id: Name | None = None


class GeminiPart(GeminiStruct):
    """One part of a turn: one of its members says what it is."""

    text: str | None = None
    thought: bool = False
    thought_signature: str | None = None
    inline_data: InlineData | None = None
    file_data: FileData | None = None
    function_call: CalledFunction | None = None
    function_response: FunctionResult | None = None


class GeminiContent(GeminiStruct):
    """One turn."""

    role: Literal["user", "model", "function", "system", ""] = "user"
    parts: list[GeminiPart] = []


class FunctionDeclaration(GeminiStruct):
    """One function that the model may call."""

    name: Name
    description: str = ""
    parameters: dict[str, Any] | None = None
    parameters_json_schema: dict[str, Any] | None = None
    response: Any = None
    response_json_schema: Any = None
    behavior: Any = None


class GeminiTool(GeminiStruct):
    """Functions of the client's own; what Google runs is nowhere else."""

    function_declarations: list[FunctionDeclaration] = []


class FunctionCallingConfig(GeminiStruct):
    """Whether and which functions are to be called."""

    mode: Literal["MODE_UNSPECIFIED", "AUTO", "ANY", "NONE", "VALIDATED"] = "AUTO"
    allowed_function_names: list[Name] | None = None


class ToolConfig(GeminiStruct):
    function_calling_config: FunctionCallingConfig | None = None


class ThinkingConfig(GeminiStruct):
    """Whether the model is to think first."""

    include_thoughts: bool | None = None
    thinking_budget: int | None = None
    thinking_level: Word | None = None


class GenerationConfig(GeminiStruct):
    """How the answer is to be made."""

    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    top_p: Annotated[float, Meta(ge=0, le=1)] | None = None
    top_k: Annotated[float, Meta(ge=0)] | None = None
    max_output_tokens: Count | None = None
    candidate_count: Count | None = None
    stop_sequences: list[StopText] | None = None
    seed: int | None = None
    presence_penalty: Annotated[float, Meta(ge=-2, le=2)] | None = None
    frequency_penalty: Annotated[float, Meta(ge=-2, le=2)] | None = None
    response_mime_type: Literal["text/plain", "application/json", ""] = ""
    response_schema: dict[str, Any] | None = None
    response_json_schema: dict[str, Any] | None = None
    thinking_config: ThinkingConfig | None = None


class GenerateFields(GeminiStruct):
    """A conversation to be answered."""

    contents: Annotated[list[GeminiContent], Meta(min_length=1)]
    system_instruction: GeminiContent | None = None
    tools: list[GeminiTool] | None = None
    tool_config: ToolConfig | None = None
    generation_config: GenerationConfig = msgspec.field(default_factory=GenerationConfig)
    safety_settings: Any = None
    labels: dict[str, str] | None = None
    model: ModelName = ""


class CountFields(GeminiStruct):
    """A conversation whose tokens are to be counted."""

    contents: list[GeminiContent] = []
    system_instruction: GeminiContent | None = None
    tools: list[GeminiTool] | None = None
    generate_content_request: GenerateFields | None = None
    model: ModelName = ""


class EmbedFields(GeminiStruct):
    """A text to be embedded."""

    content: GeminiContent
    task_type: Word | None = None
    title: str | None = None
    output_dimensionality: Count | None = None
    model: ModelName = ""


class BatchEmbedFields(GeminiStruct):
    """Several of them."""

    requests: Annotated[list[EmbedFields], Meta(min_length=1)]


generate_decoder = msgspec.json.Decoder(GenerateFields)
count_decoder = msgspec.json.Decoder(CountFields)
embed_decoder = msgspec.json.Decoder(EmbedFields)
batch_embed_decoder = msgspec.json.Decoder(BatchEmbedFields)
