"""llama.cpp's log probabilities in OpenAI's two forms: an object for chat, parallel lists for text."""

from typing import Any

Json = dict[str, Any]


def chat_logprobs(logprobs: Json | None) -> Json | None:
    """Adds the list of refusal tokens, which OpenAI's schema requires."""
    return None if logprobs is None else {**logprobs, "refusal": None}


def text_logprobs(logprobs: Json | None, offset: int = 0) -> Json | None:
    """llama.cpp gives chat's form for text too; `offset` is where in the text its first token begins."""
    if not logprobs or "content" not in logprobs:
        return logprobs
    offsets = []
    for token in logprobs["content"]:
        offsets.append(offset)
        offset += len(token["token"])
    return {
        "tokens": [token["token"] for token in logprobs["content"]],
        "token_logprobs": [token["logprob"] for token in logprobs["content"]],
        "top_logprobs": [
            {top["token"]: top["logprob"] for top in token["top_logprobs"]} for token in logprobs["content"]
        ],
        "text_offset": offsets,
    }
