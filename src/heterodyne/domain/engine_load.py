"""What an engine says of itself, in one form for every engine. Gauges lag; how old they are is kept beside them."""

from enum import StrEnum

from msgspec import Struct


class Capability(StrEnum):
    """What an engine can do that not every engine can."""

    TOOLS = "tools"
    JSON_SCHEMA = "json_schema"
    LOGPROBS = "logprobs"
    VISION = "vision"
    LORA = "lora"
    EMBEDDINGS = "embeddings"
    CONTINUES_ANSWERS = "continues_answers"  # an answer begun elsewhere is taken up where it stopped
    CACHE_SALT = "cache_salt"  # prompts of different tenants never share cached keys and values
    KV_EVENTS = "kv_events"


class EngineLoad(Struct, frozen=True, kw_only=True):
    """One reading. None: this engine does not say."""

    running: int | None = None  # sequences in its batch
    waiting: int | None = None  # requests it has accepted and not begun
    kv_share: float | None = None  # of its KV memory in use, 0 to 1
    kv_tokens: int | None = None  # tokens its KV memory holds
    block_tokens: int | None = None
    context_tokens: int | None = None  # of one sequence, where the engine tells it here and not in its model list
    prefix_query_tokens: float | None = None  # prompt tokens looked up in its prefix cache, since it started
    prefix_hit_tokens: float | None = None  # of those, found
    prompt_tokens: float | None = None  # computed since it started; going back means it has restarted
    output_tokens: float | None = None
    started_at_s: float | None = None  # seconds since the epoch
    adapters: tuple[str, ...] = ()  # LoRA adapters in memory
    is_asleep: bool = False


class ServedModel(Struct, frozen=True, kw_only=True):
    """One line of an engine's model list."""

    name: str
    context_tokens: int | None = None  # None: the engine does not say
    parent: str | None = None  # the model an adapter belongs to; None: it is no adapter
