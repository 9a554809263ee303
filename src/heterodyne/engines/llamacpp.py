"""llama.cpp's server: OpenAI's API with a few fields missing and its own tokenizer calls."""

import msgspec

from heterodyne.domain.errors import ContextExceeded, EngineGarbage, EngineUnavailable, HeterodyneError
from heterodyne.domain.fleet import Replica
from heterodyne.domain.request import Operation, Request
from heterodyne.engines.openai import OpenAIDialect, read_error, refused
from heterodyne.ports.engine import Call


class _ContextError(msgspec.Struct):
    n_prompt_tokens: int = 0
    n_ctx: int = 0
    type: str = ""
    message: str = ""


class _ContextErrorAnswer(msgspec.Struct):
    error: _ContextError


_decode_context_error = msgspec.json.Decoder(_ContextErrorAnswer).decode


class LlamaCppDialect(OpenAIDialect):
    """Adds what OpenAI's schema requires and llama.cpp leaves out."""

    name = "llamacpp"
    health_path = "/health"

    def call(self, request: Request, replica: Replica) -> Call:
        if request.operation is Operation.TOKENIZE:
            return _begin_tokenize(request.body)
        return super().call(request, replica)

    def answer(self, request: Request, replica: Replica, body: bytes) -> bytes | Call:
        try:
            match request.operation:
                case Operation.CHAT:
                    return _complete_chat(body)
                case Operation.COMPLETION:
                    return _complete_text(body)
                case Operation.TOKENIZE:
                    return _continue_tokenize(body, replica)
                case Operation.DETOKENIZE:
                    return msgspec.json.encode({"prompt": msgspec.json.decode(body)["content"]})
                case _:
                    return body
        except (msgspec.DecodeError, KeyError, TypeError, AttributeError) as error:
            raise EngineGarbage("The engine's answer has not the promised form.") from error

    def refusal(self, request: Request, status: int, body: bytes) -> HeterodyneError:
        try:
            error = _decode_context_error(body).error
        except msgspec.DecodeError:
            error = _ContextError()
        if error.n_ctx:
            return ContextExceeded(
                f"The prompt has {error.n_prompt_tokens} tokens; the context of this model is {error.n_ctx} tokens.",
                param="messages" if request.operation is Operation.CHAT else "prompt",
            )
        message, code, param = read_error(body)
        if status == 503:
            return EngineUnavailable("The engine is loading its model.", retry_after_s=2)
        return refused(status, message, code, param)


def _begin_tokenize(body: bytes) -> Call:
    """A conversation goes through the chat template first, a plain prompt does not."""
    asked = msgspec.json.decode(body)
    if "messages" in asked:
        return Call("/apply-template", body)
    return Call("/tokenize", _tokenize_body(asked["prompt"], add_special=asked.get("add_special_tokens", True)))


def _continue_tokenize(body: bytes, replica: Replica) -> bytes | Call:
    answer = msgspec.json.decode(body)
    if "tokens" not in answer:
        return Call("/tokenize", _tokenize_body(answer["prompt"], add_special=False))
    tokens = answer["tokens"]
    return msgspec.json.encode({"count": len(tokens), "max_model_len": replica.context_tokens, "tokens": tokens})


def _tokenize_body(text: str, *, add_special: bool) -> bytes:
    return msgspec.json.encode({"content": text, "add_special": add_special, "parse_special": True})


def _complete_chat(body: bytes) -> bytes:
    answer = msgspec.json.decode(body)
    for choice in answer["choices"]:
        choice.setdefault("logprobs", None)
        choice["message"].setdefault("content", None)
        choice["message"].setdefault("refusal", None)
    return msgspec.json.encode(answer)


def _complete_text(body: bytes) -> bytes:
    answer = msgspec.json.decode(body)
    for choice in answer["choices"]:
        choice["logprobs"] = _text_logprobs(choice.get("logprobs"))
    return msgspec.json.encode(answer)


def _text_logprobs(logprobs: dict | None) -> dict | None:  # type: ignore[type-arg]  # JSON as it came
    """llama.cpp gives chat-style logprobs for text completions; OpenAI's are four parallel lists."""
    if not logprobs or "content" not in logprobs:
        return logprobs
    offset, offsets = 0, []
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
