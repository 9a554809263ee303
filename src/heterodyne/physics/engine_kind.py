"""The engines whose memory and speed we can speak about."""

from enum import StrEnum


class EngineKind(StrEnum):
    """Programs that run a model."""

    VLLM = "vllm"
    SGLANG = "sglang"
    TENSORRT_LLM = "tensorrt-llm"
    LLAMACPP = "llamacpp"
