"""What the body of a chat or a completion asks: its prompts, and the fields that copying a model needs.

Of a chat only the user's last message counts, and only where it is the last of all: what comes before was asked before,
and an agent's turn over the results of its tools asks nothing new.
"""

from typing import Final

import msgspec
from msgspec import Raw, Struct

from heterodyne.domain.abuse_sign import AbuseSign
from heterodyne.safety.abuse.minhash import MinHasher
from heterodyne.safety.abuse.prompt_words import both_ends, words_of
from heterodyne.safety.abuse.verbatim_asks import asks_verbatim

BODY_BYTES_MAX: Final = 1 << 20  # a longer one is not read: its cost is what is noticed
PROMPTS_MAX: Final = 8  # of one completion

NOTHING: Final = Raw(b"null")


class _Message(Struct):
    role: str = ""
    content: Raw = NOTHING


class _Body(Struct):
    messages: list[_Message] = []
    prompt: Raw = NOTHING
    temperature: float | None = None
    n: int | None = None
    best_of: int | None = None
    logprobs: bool | int | None = None
    top_logprobs: int | None = None
    logit_bias: dict[str, float] | None = None


class _Part(Struct):
    text: str = ""


_body = msgspec.json.Decoder(_Body, strict=False)
_content = msgspec.json.Decoder(str | list[_Part])
_prompts = msgspec.json.Decoder(str | list[str])


def signs_of(about: AbuseSign, body: bytes, *, hasher: MinHasher, verbatim: bool) -> list[AbuseSign]:
    """A sign for each prompt of a request, the first with its cost; at least one. `about` is the request without its
    words, `verbatim` whether to look for prompts that want words of others."""
    if not body or len(body) > BODY_BYTES_MAX:
        return [about]
    try:
        asked = _body.decode(body)
        texts = _texts(asked)
    except (msgspec.DecodeError, UnicodeDecodeError):  # tensors, token ids, or what a replica has refused as well
        return [about]
    has_logits = (
        bool(asked.logprobs or asked.top_logprobs or asked.logit_bias) or max(asked.n or 1, asked.best_of or 1) > 1
    )
    signs: list[AbuseSign] = []
    for text in texts:
        looked_at = both_ends(text)
        words = words_of(looked_at)
        sign = AbuseSign(
            about.key,
            about.project,
            about.asked_model,
            about.model,
            about.at,
            0.0 if signs else about.usd,
            max(1, len(words)),
            hasher.signature(words) if words else b"",
            hasher.digest(looked_at),
            asked.temperature,
            has_logits,
            verbatim and asks_verbatim(looked_at),
        )
        signs.append(sign)
    return signs or [about]


def _texts(asked: _Body) -> list[str]:
    if asked.messages:
        last = asked.messages[-1]
        if last.role != "user":
            return []
        content = _content.decode(last.content)
        return [content if isinstance(content, str) else "\n".join(part.text for part in content)]
    if asked.prompt == NOTHING:
        return []
    prompts = _prompts.decode(asked.prompt)
    return [prompts] if isinstance(prompts, str) else prompts[:PROMPTS_MAX]
