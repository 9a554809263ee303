"""Between text and tokens: a model's own tokenizer and chat template, or bytes where weights are random."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import msgspec

from heterodyne.domain.errors import InvalidField, WeightsCorrupt, WeightsUnavailable

Message = Mapping[str, Any]
MISSING = "the JAX engine needs the extra `jax`: pip install 'heterodyne[jax]'"
CONTINUED_WITHOUT = "continue_final_message: the chat template changes the last message, so it cannot be continued"


class ModelTexts(Protocol):
    """What an engine has to know of a model's text."""

    def encode(self, text: str, *, has_start: bool) -> list[int]:
        """`has_start`: with the tokens that a text of this model begins with."""
        ...

    def decode(self, tokens: Sequence[int]) -> str: ...

    def chat(self, messages: Sequence[Message], *, adds_prompt: bool, continues: bool) -> list[int]:
        """A conversation as the model reads it; `continues`: it ends inside the last message."""
        ...


class ByteTexts:
    """A token for each byte, and words of one letter for all beyond them. For weights that are noise anyway."""

    def encode(self, text: str, *, has_start: bool) -> list[int]:
        return list(text.encode())

    def decode(self, tokens: Sequence[int]) -> str:
        return "".join(chr(32 + token % 95) for token in tokens)

    def chat(self, messages: Sequence[Message], *, adds_prompt: bool, continues: bool) -> list[int]:
        said = "".join(f"{message['role']}: {message['content']}\n" for message in messages)
        text = said.removesuffix("\n") if continues else said + ("assistant: " if adds_prompt else "")
        return list(text.encode())


class TokenizerTexts:
    """By `tokenizer.json` and the template beside it."""

    def __init__(self, folder: Path) -> None:
        try:
            from tokenizers import Tokenizer  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise WeightsUnavailable(MISSING) from error
        path = folder / "tokenizer.json"
        if not path.is_file():
            raise WeightsUnavailable(f"{path}: is missing; the JAX engine serves folders with a tokenizer.json")
        try:
            self._tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:
            raise WeightsCorrupt(f"{path}: {error}") from error
        self._config = _members(folder / "tokenizer_config.json")
        self._template = _template(folder, self._config)

    def encode(self, text: str, *, has_start: bool) -> list[int]:
        tokens: list[int] = self._tokenizer.encode(text, add_special_tokens=has_start).ids
        return tokens

    def decode(self, tokens: Sequence[int]) -> str:
        text: str = self._tokenizer.decode(list(tokens), skip_special_tokens=True)
        return text

    def chat(self, messages: Sequence[Message], *, adds_prompt: bool, continues: bool) -> list[int]:
        if self._template is None:
            raise InvalidField("messages: this model has no chat template; ask for completions", param="messages")
        words = {name: _word(self._config.get(name)) for name in ("bos_token", "eos_token", "pad_token", "unk_token")}
        text = self._template.render(
            messages=list(messages), add_generation_prompt=adds_prompt and not continues, tools=None, **words
        )
        if continues:
            last = str(messages[-1]["content"]).strip()
            place = text.rfind(last)
            if place < 0:
                raise InvalidField(CONTINUED_WITHOUT, param="continue_final_message")
            text = text[: place + len(last)]
        return self.encode(text, has_start=False)


def _template(folder: Path, config: Mapping[str, Any]) -> Any:
    path = folder / "chat_template.jinja"
    text = path.read_text(encoding="utf-8") if path.is_file() else config.get("chat_template")
    if not isinstance(text, str):
        return None
    try:
        from jinja2.sandbox import ImmutableSandboxedEnvironment  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise WeightsUnavailable(MISSING) from error
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    environment.globals["raise_exception"] = _refuse
    return environment.from_string(text)


def _refuse(message: str) -> None:
    raise InvalidField(f"messages: {message}", param="messages")


def _members(path: Path) -> dict[str, Any]:
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Any]) if path.is_file() else {}
    except msgspec.MsgspecError as error:
        raise WeightsUnavailable(f"{path}: {error}") from error


def _word(token: object) -> str:
    """Of a special token, which configs write as a text or as an object with one inside."""
    content = token.get("content") if isinstance(token, Mapping) else token
    return content if isinstance(content, str) else ""
