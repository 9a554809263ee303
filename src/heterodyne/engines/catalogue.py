"""The engines by name, each one object that speaks its wire and reads its pages: a new one is a file and a line."""

from typing import Protocol

from heterodyne.engines.anthropic.bedrock import BedrockDialect
from heterodyne.engines.anthropic.dialect import AnthropicDialect
from heterodyne.engines.azure_openai import AzureOpenAIDialect
from heterodyne.engines.converse.dialect import ConverseDialect
from heterodyne.engines.gemini.dialect import GeminiDialect
from heterodyne.engines.jetstream import JetStreamDialect
from heterodyne.engines.llamacpp.dialect import LlamaCppDialect
from heterodyne.engines.lmdeploy import LmdeployDialect
from heterodyne.engines.mlx_lm import MlxLmDialect
from heterodyne.engines.ollama import OllamaDialect
from heterodyne.engines.open_inference import OpenInferenceDialect
from heterodyne.engines.openai import OpenAIDialect
from heterodyne.engines.sglang import SglangDialect
from heterodyne.engines.tensorrt_llm import TensorRtLlmDialect
from heterodyne.engines.tgi import TgiDialect
from heterodyne.engines.transformers import TransformersDialect
from heterodyne.engines.vllm import VllmDialect
from heterodyne.ports.engine import EngineDialect
from heterodyne.ports.engine_control import EngineControl


class Engine(EngineDialect, EngineControl, Protocol):
    """Both sides of one engine."""


_ENGINES: tuple[Engine, ...] = (
    LlamaCppDialect(),
    OpenAIDialect(),
    VllmDialect(),
    SglangDialect(),
    TensorRtLlmDialect(),
    TgiDialect(),
    LmdeployDialect(),
    JetStreamDialect(),
    OllamaDialect(),
    MlxLmDialect(),
    TransformersDialect(),
    OpenInferenceDialect(),
    AnthropicDialect(),
    GeminiDialect(),
    AzureOpenAIDialect(),
    BedrockDialect(),
    ConverseDialect(),
)
ENGINES: dict[str, Engine] = {engine.name: engine for engine in _ENGINES}
DIALECTS: dict[str, EngineDialect] = {**ENGINES}  # what the data plane needs to know of them
