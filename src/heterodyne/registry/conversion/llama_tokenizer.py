"""The tokenizer inside a GGUF as the two files that transformers reads: byte-level BPE with its chat template."""

import gguf
import msgspec

from heterodyne.domain.errors import WeightsUnavailable

MODEL = "gpt2"  # llama.cpp's word for byte-level BPE
WORDS = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
# How text is cut before merging, by llama.cpp's name for it.
CUTS: dict[str, object] = {
    "gpt-2": WORDS,
    "smollm": {"type": "Sequence", "pretokenizers": [{"type": "Digits", "individual_digits": True}, WORDS]},
}
NOT_TEXT = (gguf.TokenType.CONTROL, gguf.TokenType.USER_DEFINED)
SPECIAL = {"bos_token": "bos", "eos_token": "eos", "unk_token": "unknown", "pad_token": "padding"}


def tokenizer_files(name: str, fields: dict[str, object]) -> dict[str, bytes]:
    """Both files by their names; `name` is the GGUF's, for what is refused. Raises `KeyError` with a missing field."""
    tokenizer = {key.removeprefix("tokenizer.ggml."): value for key, value in fields.items()}
    cut = CUTS.get(str(tokenizer["pre"]))
    if tokenizer["model"] != MODEL or cut is None:
        raise WeightsUnavailable(
            f'weights: {name} has a tokenizer "{tokenizer["model"]}" cut as "{tokenizer["pre"]}"; '
            f'"{MODEL}" cut as {" or ".join(CUTS)} converts'
        )
    if tokenizer.get("add_bos_token"):
        raise WeightsUnavailable(f"weights: {name} begins every text with a token of its own; that does not convert")
    tokens: list[str] = tokenizer["tokens"]  # type: ignore[assignment]  # lists of what the format says
    types: list[int] = tokenizer["token_type"]  # type: ignore[assignment]
    merges: list[str] = tokenizer["merges"]  # type: ignore[assignment]
    document = {
        "version": "1.0",
        "added_tokens": [_added(index, tokens[index], kind) for index, kind in enumerate(types) if kind in NOT_TEXT],
        "normalizer": None,
        "pre_tokenizer": cut,
        "post_processor": None,
        "decoder": WORDS,
        "model": {
            "type": "BPE",
            "vocab": {token: index for index, token in enumerate(tokens)},
            "merges": [merge.split(" ") for merge in merges],
        },
    }
    config: dict[str, object] = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "clean_up_tokenization_spaces": False,
        "model_max_length": fields["llama.context_length"],
    }
    for member, role in SPECIAL.items():
        index = tokenizer.get(f"{role}_token_id")
        if isinstance(index, int):
            config[member] = tokens[index]
    if "tokenizer.chat_template" in fields:
        config["chat_template"] = fields["tokenizer.chat_template"]
    return {
        "tokenizer.json": msgspec.json.encode(document),
        "tokenizer_config.json": msgspec.json.format(msgspec.json.encode(config)),
    }


def _added(index: int, token: str, kind: int) -> dict[str, object]:
    plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    return {"id": index, "content": token, "special": kind == gguf.TokenType.CONTROL, **plain}
