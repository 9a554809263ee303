"""The parts of multi-part messages: how much text they are worth, and what in them is one engine's own.

Engines take tensors, names of cached pictures and files of their own in the places of pictures. Like any other field of
theirs these pass where an operator has opened them.
"""

from collections.abc import Iterable
from typing import NamedTuple

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

DATA_BYTES = 1024  # of text, that a picture, a sound or a film is worth beside a thousandth of its data
DATA_SHARE = 1024
# By the type of a part, each in a member of that name: what of it OpenAI describes.
DATA = {
    "image_url": frozenset({"url", "detail"}),
    "input_audio": frozenset({"data", "format"}),
    "video_url": frozenset({"url"}),
    "audio_url": frozenset({"url"}),
}
TEXTS = frozenset({"text", "refusal", "file", "input_text", "output_text", "thinking", "reasoning"})
PLACE = "messages.content"
NAME_CHARS_MAX = 100

_members = msgspec.json.Decoder(dict[str, Raw] | str | None).decode
_text = msgspec.json.Decoder(str).decode


class Part(Struct):
    """One part of a multi-part message; what is not text goes to the engine unread."""

    type: str
    text: str = ""
    image_url: Raw | UnsetType = UNSET
    video_url: Raw | UnsetType = UNSET
    audio_url: Raw | UnsetType = UNSET
    input_audio: Raw | UnsetType = UNSET
    uuid: Raw | UnsetType = UNSET  # the name of a picture that somebody, perhaps another tenant, has sent before


class Parts(NamedTuple):
    """What is to be known of all of them."""

    more_bytes: int  # of their data, than the text that it is worth
    private: frozenset[str]  # by path, in no order


NO_PARTS = Parts(0, frozenset())


def read_parts(parts: Iterable[Part]) -> Parts:
    """Of all messages together."""
    more, private = 0, set()
    for part in parts:
        if part.uuid is not UNSET:
            private.add(f"{PLACE}.uuid")
        known = DATA.get(part.type)
        if known is None:
            if part.type not in TEXTS:
                private.add(f"{PLACE}.{part.type[:NAME_CHARS_MAX]}")
        elif (data := getattr(part, part.type)) is not UNSET:
            more += len(data) - len(data) // DATA_SHARE - DATA_BYTES
            private |= _private(part.type, data, known)
    return Parts(more, frozenset(private))


def _private(kind: str, data: Raw, known: frozenset[str]) -> set[str]:
    try:
        members = _members(data)
    except (msgspec.ValidationError, UnicodeDecodeError):
        return {f"{PLACE}.{kind}"}
    if members is None:
        return {f"{PLACE}.{kind}"}  # a picture that is only named
    if isinstance(members, str):
        return set() if _is_ours(members) else {f"{PLACE}.{kind}"}
    private = {f"{PLACE}.{kind}.{name[:NAME_CHARS_MAX]}" for name in members.keys() - known}
    if "url" in members and not _is_ours(_try_text(members["url"])):
        private.add(f"{PLACE}.{kind}.url")
    return private


def _try_text(value: Raw) -> str:
    try:
        return _text(value)
    except (msgspec.ValidationError, UnicodeDecodeError):
        return ""


def _is_ours(url: str) -> bool:
    """Whether it is of a kind that OpenAI takes: not of a file, say, that the engine can read."""
    return url.startswith(("data:", "https://", "http://"))
