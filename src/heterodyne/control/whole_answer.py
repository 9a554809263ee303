"""What a replica says in an answer that came whole."""

from typing import Any

import msgspec
from msgspec import Struct

from heterodyne.domain.errors import EngineGarbage


class WholeText(Struct, frozen=True):
    """Of a chat or a completion."""

    text: str
    tokens: int  # as the engine counts, or else its words


def read_whole_text(answer: bytes, replica: str) -> WholeText:
    """Its first choice; raises EngineGarbage where there is none."""
    try:
        said: dict[str, Any] = msgspec.json.decode(answer)
        choice = said["choices"][0]
        text = str((choice["message"]["content"] if "message" in choice else choice["text"]) or "")
        usage = said.get("usage") or {}
        return WholeText(text, int(usage.get("completion_tokens") or len(text.split())))
    except (msgspec.DecodeError, LookupError, TypeError, ValueError) as error:
        raise EngineGarbage(f"{replica} gives no answer that can be read") from error
