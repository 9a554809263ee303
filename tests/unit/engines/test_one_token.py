"""A user's prompt is asked for one token, with everything that its KV depends on."""

import msgspec

from heterodyne.engines.one_token import one_token_call
from heterodyne.ports.engine_request import EngineRequest


def test_what_the_prompt_is_made_of_stays_and_the_answer_is_one_token() -> None:
    prompt = {
        "model": "m",
        "messages": [{"role": "user", "content": "hi"}],
        "tools": [{"type": "function", "function": {"name": "f"}}],
        "cache_salt": "of a tenant",
        "temperature": 0.3,
    }
    asked = {"stream": True, "stream_options": {"include_usage": True}, "max_tokens": 900, "n": 4, "logprobs": True}
    call = one_token_call(EngineRequest("/v1/chat/completions", msgspec.json.encode({**prompt, **asked})))
    assert call.path == "/v1/chat/completions"
    assert msgspec.json.decode(call.body) == {**prompt, "stream": False, "max_tokens": 1}
