"""Chats as a cascade sees them: the prompt that is scored, the form that is asked for, the answer that is judged."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from heterodyne.routing.cascade.judges.doubt import AnswerForm, JudgedAnswer, WrittenCall

SAMPLES_TEMPERATURE: Final = 0.7
VERDICT_TOKENS_MAX: Final = 8
SHOWN_CHARS_MAX: Final = 8000
_VERIFY: Final = (
    "A question and an answer to it are below. Say whether the answer is right and complete. Reply with one word, "
    "yes or no."
)

Json = dict[str, Any]


def prompt_of(body: Mapping[str, Any]) -> str:
    """All texts of the conversation, as rows have them that a cascade is fitted to."""
    return "\n".join(text for message in _maps(body.get("messages")) for text in _texts(message.get("content")))


def question_of(body: Mapping[str, Any]) -> str:
    """What its user said last."""
    said = [message for message in _maps(body.get("messages")) if message.get("role") == "user"]
    return "\n".join(_texts(said[-1].get("content"))) if said else ""


def form_of(body: Mapping[str, Any]) -> AnswerForm:
    """What the answer has to look like, as far as the request says so."""
    wanted = body.get("response_format")
    kind = wanted.get("type") if isinstance(wanted, Mapping) else None
    schema = wanted.get("json_schema") if isinstance(wanted, Mapping) else None
    schema = schema.get("schema") if isinstance(schema, Mapping) else None
    tools = None
    if body.get("tools"):
        functions = [one.get("function") for one in _maps(body["tools"])]
        tools = {str(one.get("name")): _required(one) for one in functions if isinstance(one, Mapping)}
    return AnswerForm(
        is_json=kind in ("json_object", "json_schema"),
        schema=schema if kind == "json_schema" and isinstance(schema, Mapping) else None,
        tools=tools,
    )


def cheap_body(body: Mapping[str, Any], model: str, *, with_logprobs: bool) -> Json:
    """The same question to the cheap model, to be answered whole."""
    asked = {name: value for name, value in body.items() if name not in ("stream", "stream_options", "store")}
    asked["model"] = model
    if with_logprobs:
        asked["logprobs"] = True
    return asked


def samples_body(cheap: Mapping[str, Any], samples: int) -> Json:
    """Further answers to it, drawn by chance."""
    asked = {name: value for name, value in cheap.items() if name not in ("logprobs", "top_logprobs", "seed")}
    return {**asked, "n": samples, "temperature": SAMPLES_TEMPERATURE}


def verifier_body(model: str, prompt: str, answer: JudgedAnswer) -> Json:
    """What a verifier is asked about an answer."""
    text = f"Question:\n{prompt[-SHOWN_CHARS_MAX:]}\n\nAnswer:\n{answer.text[:SHOWN_CHARS_MAX]}"
    messages = [{"role": "system", "content": _VERIFY}, {"role": "user", "content": text}]
    return {"model": model, "messages": messages, "temperature": 0, "max_tokens": VERDICT_TOKENS_MAX}


def try_answer(
    body: bytes, samples: bytes | None = None, verdict: bytes | None = None, *, question: str = ""
) -> JudgedAnswer | None:
    """A whole answer with what came beside it; None: it is no chat with one choice."""
    choices = _choices(body)
    if len(choices) != 1:
        return None
    choice, message = choices[0], choices[0]["message"]
    told = choice.get("logprobs")
    tokens = _maps(told.get("content")) if isinstance(told, Mapping) else []
    return JudgedAnswer(
        text=_text(message),
        question=question,
        finish_reason=choice.get("finish_reason"),
        calls=tuple(_call(one.get("function")) for one in _maps(message.get("tool_calls"))),
        logprobs=tuple(float(one["logprob"]) for one in tokens if isinstance(one.get("logprob"), (int, float))),
        samples=() if samples is None else tuple(_text(one["message"]) for one in _choices(samples)),
        verdict=None if verdict is None else next((_text(one["message"]) for one in _choices(verdict)), None),
    )


def without_logprobs(body: bytes) -> bytes:
    """The answer to a client that did not ask for them."""
    answer = msgspec.json.decode(body)
    for choice in answer["choices"]:
        choice["logprobs"] = None
    return msgspec.json.encode(answer)


def _choices(body: bytes) -> list[Mapping[str, Any]]:
    """Those with a message."""
    try:
        answer = msgspec.json.decode(body, type=Json)
    except msgspec.DecodeError:
        return []
    return [choice for choice in _maps(answer.get("choices")) if isinstance(choice.get("message"), Mapping)]


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    return content if isinstance(content, str) else ""


def _call(function: object) -> WrittenCall:
    said = function if isinstance(function, Mapping) else {}
    return WrittenCall(name=str(said.get("name") or ""), arguments=str(said.get("arguments") or ""))


def _required(function: Mapping[str, Any]) -> tuple[str, ...]:
    parameters = function.get("parameters")
    required = parameters.get("required") if isinstance(parameters, Mapping) else None
    return tuple(map(str, required)) if isinstance(required, Sequence) else ()


def _texts(content: object) -> list[str]:
    if isinstance(content, str):
        return [content]
    return [part["text"] for part in _maps(content) if isinstance(part.get("text"), str)]


def _maps(value: object) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []
