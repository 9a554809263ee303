"""Anthropic's models on Amazon's Bedrock, whose newer endpoint speaks Anthropic's own API with Bedrock's keys.

Pools name `https://bedrock-mantle.{region}.api.aws/anthropic`. The older Converse API would want requests signed with
the time of day, and streams in a binary framing.
"""

from heterodyne.domain.operation import Operation
from heterodyne.engines.anthropic.dialect import VERSION_LINE, AnthropicDialect
from heterodyne.engines.openai import bearer_line


class BedrockDialect(AnthropicDialect):
    """Whether it lists models for a key is not known, so that any answer but a failure means that it is there."""

    name = "bedrock"
    operations = frozenset({Operation.CHAT})  # whether it counts tokens is not known either

    def header_lines(self, key: str) -> bytes:
        return bearer_line(key) + VERSION_LINE

    def is_ready(self, status: int, body: bytes) -> bool:
        return status < 500
