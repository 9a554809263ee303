"""`tokenizer.json` and `tokenizer_config.json`, as far as they are converted."""

from pathlib import Path

import msgspec
from msgspec import Struct

from heterodyne.domain.errors import WeightsCorrupt, WeightsUnavailable

FILE = "tokenizer.json"
CONFIG = "tokenizer_config.json"
TEMPLATE = "chat_template.jinja"
ROLES = {"bos_token": "bos", "eos_token": "eos", "unk_token": "unknown", "pad_token": "padding"}


class AddedToken(Struct, frozen=True):
    """A token that no text is cut into."""

    id: int
    content: str
    special: bool = False


class BpeModel(Struct, frozen=True):
    """Pairs that are merged, the first ones first."""

    type: str
    vocab: dict[str, int]
    merges: list[str | list[str]] = []
    byte_fallback: bool = False
    ignore_merges: bool = False

    def pairs(self) -> list[tuple[str, str]]:
        """The merges; older files have each as one text."""
        split = (merge.split(" ", 1) if isinstance(merge, str) else merge for merge in self.merges)
        return [(left, right) for left, right in split]


class TokenizerDocument(Struct, frozen=True):
    """`tokenizer.json`."""

    model: BpeModel
    added_tokens: list[AddedToken] = []
    normalizer: dict[str, object] | None = None
    pre_tokenizer: dict[str, object] | None = None
    post_processor: dict[str, object] | None = None


class TokenizerConfig(Struct, frozen=True):
    """`tokenizer_config.json`, with what may stand in a file of its own."""

    roles: dict[str, str]  # a token by its role
    chat_template: str | None
    adds_bos: bool
    adds_eos: bool = False


class TokenTable(Struct, frozen=True):
    """All tokens by their numbers."""

    texts: list[str]
    types: list[int]


def read_document(folder: Path) -> TokenizerDocument:
    """Raises what is missing or is another kind of tokenizer."""
    path = folder / FILE
    try:
        content = path.read_bytes()
        kind = msgspec.json.decode(content, type=_Kind).model.type
        if kind not in (None, "BPE"):
            raise WeightsUnavailable(f"{path}: is a tokenizer of the kind {kind}; those that merge pairs (BPE) convert")
        return msgspec.json.decode(content, type=TokenizerDocument)
    except FileNotFoundError as error:
        raise WeightsUnavailable(f"{path}: is not there; a GGUF holds its tokenizer") from error
    except msgspec.MsgspecError as error:
        raise WeightsCorrupt(f"{path}: {error}") from error


def read_config(folder: Path, document: TokenizerDocument) -> TokenizerConfig:
    """Who is who among the special tokens, the chat template, and what every text begins with."""
    path = folder / CONFIG
    try:
        members = msgspec.json.decode(path.read_bytes(), type=dict[str, object]) if path.is_file() else {}
    except msgspec.MsgspecError as error:
        raise WeightsCorrupt(f"{path}: {error}") from error
    roles = {ROLES[name]: text for name in ROLES if (text := _content(members.get(name))) is not None}
    template = members.get("chat_template")
    if (folder / TEMPLATE).is_file():
        template = (folder / TEMPLATE).read_text(encoding="utf-8")
    return TokenizerConfig(
        roles=roles,
        chat_template=template if isinstance(template, str) else None,
        adds_bos=members.get("add_bos_token") is True or _adds(document.post_processor, roles.get("bos")),
        adds_eos=members.get("add_eos_token") is True,
    )


def tokens_of(
    document: TokenizerDocument, vocabulary: int, where: Path, types: dict[str, int], usual: int
) -> TokenTable:
    """One text and one type for every row of the embedding; rows that no token has are filled with names of none."""
    ids = dict(document.model.vocab) | {one.content: one.id for one in document.added_tokens}
    if ids and max(ids.values()) >= vocabulary:
        beyond = max(ids, key=lambda text: ids[text])
        raise WeightsCorrupt(
            f'{where / FILE}: does not match the model: the token "{beyond}" is number {ids[beyond]}, and the model '
            f"has {vocabulary}"
        )
    texts = [f"[PAD{number}]" for number in range(vocabulary)]
    kinds = [UNUSED] * vocabulary
    for text, number in ids.items():
        texts[number], kinds[number] = text, types.get(text, usual)
    return TokenTable(texts, kinds)


UNUSED = 5  # of `gguf.TokenType`


class _KindOf(Struct, frozen=True):
    type: str | None = None


class _Kind(Struct, frozen=True):
    model: _KindOf


def _content(value: object) -> str | None:
    """A special token is a text, or an object that has it."""
    if isinstance(value, dict):
        value = value.get("content")
    return value if isinstance(value, str) else None


def _adds(processor: dict[str, object] | None, bos: str | None) -> bool:
    """Whether texts get the token before them."""
    if processor is None or bos is None:
        return False
    if processor.get("type") == "Sequence":
        inner = processor.get("processors")
        return isinstance(inner, list) and any(_adds(one, bos) for one in inner if isinstance(one, dict))
    single = processor.get("single")
    first = single[0] if isinstance(single, list) and single else None
    special = first.get("SpecialToken") if isinstance(first, dict) else None
    return isinstance(special, dict) and special.get("id") == bos
