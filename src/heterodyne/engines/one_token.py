"""The call of a user's prompt that asks for one token: what it leaves in an engine's cache is all that is wanted."""

from collections.abc import Mapping
from types import MappingProxyType

from heterodyne.engines.json_edit import put, without
from heterodyne.ports.engine_request import EngineRequest

# Of a request for one token these are refused, make it several, or have its whole prompt computed anew.
LEFT_OUT = (
    "stream_options",
    "max_tokens",
    "max_completion_tokens",
    "min_tokens",
    "n",
    "best_of",
    "logprobs",
    "top_logprobs",
    "prompt_logprobs",
    "echo",
)
NOTHING_MORE: Mapping[str, bytes] = MappingProxyType({})


def one_token_call(call: EngineRequest, asked: Mapping[str, bytes] = NOTHING_MORE) -> EngineRequest:
    """For engines that speak OpenAI's API, with these members beside; whatever else the prompt is made of stays."""
    body = put(without(call.body, LEFT_OUT), {"stream": b"false", "max_tokens": b"1", **asked})
    return EngineRequest(call.path, body, call.not_carried)
