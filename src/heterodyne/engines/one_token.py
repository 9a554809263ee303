"""The call of a user's prompt that asks for one token: what it leaves in an engine's cache is all that is wanted."""

from heterodyne.engines.json_edit import put, without
from heterodyne.ports.engine_request import EngineRequest

# Of a request for one token these are refused, make it several, or have its whole prompt computed anew.
LEFT_OUT = (
    "stream_options",
    "max_completion_tokens",
    "min_tokens",
    "n",
    "best_of",
    "logprobs",
    "top_logprobs",
    "prompt_logprobs",
    "echo",
)


def one_token_call(call: EngineRequest) -> EngineRequest:
    """For engines that speak OpenAI's API; whatever else the prompt is made of stays."""
    body = put(without(call.body, LEFT_OUT), {"stream": b"false", "max_tokens": b"1"})
    return EngineRequest(call.path, body, call.not_carried)
