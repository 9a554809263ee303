"""The typed fields of POST /v1/messages."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from heterodyne.gateway.dialects.body import ModelName, Name, StopText, Word
from heterodyne.gateway.dialects.generation_fields import Count


class AnthropicSource(Struct):
    """Where a picture is: in the body, or at an address."""

    type: Word
    media_type: Word = ""
    data: str = ""
    url: str = ""


class AnthropicBlock(Struct):
    """One block of a message, of any type; which members count is the type's to say."""

    type: Word
    text: str = ""
    source: AnthropicSource | None = None
    id: Name = ""
    name: Name = ""
    input: dict[str, Any] | None = None
    tool_use_id: Name = ""
    content: "str | list[AnthropicBlock] | None" = None
    is_error: bool = False
    thinking: str = ""
    signature: str = ""
    cache_control: dict[str, Any] | None = None
    citations: Any = None


class AnthropicMessage(Struct):
    """One turn."""

    role: Literal["user", "assistant"]
    content: str | list[AnthropicBlock]


class AnthropicTool(Struct):
    """One tool of the client's own, or by its type one of Anthropic's."""

    name: Name
    type: Word = "custom"
    description: str = ""
    input_schema: dict[str, Any] | None = None
    strict: bool | None = None
    cache_control: dict[str, Any] | None = None


class AnthropicToolChoice(Struct):
    """Which tool is to be called."""

    type: Literal["auto", "any", "tool", "none"]
    name: Name = ""
    disable_parallel_tool_use: bool = False


class AnthropicThinking(Struct):
    """Whether the model is to think first."""

    type: Literal["enabled", "disabled", "adaptive", "between_tools"]
    budget_tokens: Count | None = None
    display: Word | None = None


class AnthropicOutputFormat(Struct):
    """JSON of a schema."""

    type: Word
    schema: dict[str, Any] = {}


class AnthropicOutputConfig(Struct):
    """How the answer is to be made."""

    effort: Word | None = None
    format: AnthropicOutputFormat | None = None


class AnthropicMetadata(Struct):
    """Whom the client asks for."""

    user_id: Name | None = None


class AnthropicPromptFields(Struct, kw_only=True):
    """What the model is shown."""

    model: ModelName
    messages: Annotated[list[AnthropicMessage], Meta(min_length=1)]
    system: str | list[AnthropicBlock] = ""
    tools: list[AnthropicTool] | None = None
    tool_choice: AnthropicToolChoice | None = None
    thinking: AnthropicThinking | None = None
    output_config: AnthropicOutputConfig | None = None
    output_format: AnthropicOutputFormat | None = None
    cache_control: dict[str, Any] | None = None
    speed: Word | None = None
    mcp_servers: list[Any] | None = None
    container: Any = None


class MessagesFields(AnthropicPromptFields, kw_only=True):
    """The same, and how much is to be written."""

    max_tokens: Count
    stream: bool = False
    stop_sequences: list[StopText] | None = None
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    top_p: Annotated[float, Meta(ge=0, le=1)] | None = None
    top_k: Annotated[int, Meta(ge=0)] | None = None
    metadata: AnthropicMetadata | None = None
    service_tier: Word | None = None
    inference_geo: Word | None = None
