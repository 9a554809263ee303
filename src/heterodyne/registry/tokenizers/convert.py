"""A tokenizer from its files to the fields of a GGUF, and back."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from heterodyne.domain.errors import WeightsCorrupt, WeightsUnavailable
from heterodyne.registry.gguf.head_bytes import GgufValue
from heterodyne.registry.tokenizers import byte_level, sentence_piece
from heterodyne.registry.tokenizers.document import (
    CONFIG,
    FILE,
    ROLES,
    TokenizerConfig,
    TokenTable,
    read_config,
    read_document,
)

PREFIX = "tokenizer.ggml."
CHAT_TEMPLATE = "tokenizer.chat_template"


def tokenizer_fields(folder: Path, vocabulary: int) -> dict[str, GgufValue]:
    """The fields of the tokenizer in `folder`, for a model with so many rows in its embedding."""
    document = read_document(folder)
    config = read_config(folder, document)
    if byte_level.is_byte_level(document):
        own = byte_level.to_fields(document, vocabulary, folder)
    else:
        own = sentence_piece.to_fields(document, vocabulary, folder, config.roles.get("unknown"))
    ids = dict(document.model.vocab) | {one.content: one.id for one in document.added_tokens}
    for role, text in config.roles.items():
        if text in ids:
            own[f"{role}_token_id"] = ids[text]
    own["add_bos_token"], own["add_eos_token"] = config.adds_bos, config.adds_eos
    fields = {PREFIX + name: value for name, value in own.items()}
    return fields if config.chat_template is None else fields | {CHAT_TEMPLATE: config.chat_template}


def tokenizer_files(file: str, fields: Mapping[str, object], context_tokens: int) -> dict[str, bytes]:
    """Both files by their names; `file` is the GGUF's, for what is refused."""
    own = {name.removeprefix(PREFIX): value for name, value in fields.items() if name.startswith(PREFIX)}
    tokens = TokenTable(_texts(own, "tokens", file), [int(kind) for kind in _list(own, "token_type", file)])
    roles = {
        role: tokens.texts[id]
        for role in ROLES.values()
        if isinstance(id := own.get(f"{role}_token_id"), int) and id < len(tokens.texts)
    }
    config = TokenizerConfig(
        roles=roles,
        chat_template=template if isinstance(template := fields.get(CHAT_TEMPLATE), str) else None,
        adds_bos=own.get("add_bos_token", own.get("model") == sentence_piece.MODEL) is True,
        adds_eos=own.get("add_eos_token") is True,
    )
    document = _document(own, tokens, config, file)
    document["added_tokens"] = [
        _added(id, tokens.texts[id], kind) for id, kind in enumerate(tokens.types) if kind in byte_level.NOT_TEXT
    ]
    document["post_processor"] = _post_processor(config, own)
    return {
        FILE: msgspec.json.encode(document),
        CONFIG: msgspec.json.format(msgspec.json.encode(_config_members(config, context_tokens))),
    }


def _document(own: Mapping[str, object], tokens: TokenTable, config: TokenizerConfig, file: str) -> dict[str, object]:
    if own.get("model") == sentence_piece.MODEL:
        scores = [float(score) for score in _list(own, "scores", file)]
        adds_space = own.get("add_space_prefix", True) is not False
        return sentence_piece.to_document(tokens, scores, adds_space=adds_space, unknown=config.roles.get("unknown"))
    cut = str(own.get("pre"))
    if own.get("model") != byte_level.MODEL or cut not in byte_level.CUTS:
        raise WeightsUnavailable(
            f'{file}: has a tokenizer "{own.get("model")}" cut as "{cut}"; "{byte_level.MODEL}" cut as '
            f'{", ".join(byte_level.CUTS)} converts, and "{sentence_piece.MODEL}"'
        )
    return byte_level.to_document(tokens, _texts(own, "merges", file), cut)


def _post_processor(config: TokenizerConfig, own: Mapping[str, object]) -> dict[str, object] | None:
    """What puts the first token before every text."""
    bos = config.roles.get("bos")
    if not config.adds_bos or bos is None:
        return None
    special = {"SpecialToken": {"id": bos, "type_id": 0}}
    first, second = ({"Sequence": {"id": name, "type_id": number}} for number, name in enumerate("AB"))
    return {
        "type": "TemplateProcessing",
        "single": [special, first],
        "pair": [special, first, second],
        "special_tokens": {bos: {"id": bos, "ids": [own["bos_token_id"]], "tokens": [bos]}},
    }


def _config_members(config: TokenizerConfig, context_tokens: int) -> dict[str, object]:
    members: dict[str, object] = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "clean_up_tokenization_spaces": False,
        "model_max_length": context_tokens,
    }
    members |= {name: config.roles[role] for name, role in ROLES.items() if role in config.roles}
    return members if config.chat_template is None else members | {"chat_template": config.chat_template}


def _added(id: int, token: str, kind: int) -> dict[str, object]:
    plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    return {"id": id, "content": token, "special": kind == byte_level.TYPE.CONTROL, **plain}


def _list(own: Mapping[str, object], name: str, file: str) -> list[float]:
    value = own.get(name)
    if not isinstance(value, list):
        raise WeightsCorrupt(f"{file}: has no {PREFIX}{name}")
    return value


def _texts(own: Mapping[str, object], name: str, file: str) -> list[str]:
    return [str(one) for one in _list(own, name, file)]
