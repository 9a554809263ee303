"""The texts of a request or of an answer, as guards elsewhere are shown them."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec
from msgspec import Struct

from heterodyne.engines.form_body import FORM, Form
from heterodyne.safety.texts import OWN_MEMBERS, Texts

NO_TEXTS: Final = b"[]"


class AskedText(Struct, frozen=True):
    """One of them."""

    where: str  # its path, such as "messages[1].content"
    text: str


class AskedTexts(NamedTuple):
    """All of one document."""

    json: bytes  # a list of texts
    has_ids: bool = False  # a prompt stands as numbers, which nobody can read


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(list[AskedText]).decode


def texts_of_request(body: bytes, media_type: str = "") -> AskedTexts:
    """Those of a body in JSON, or of a form."""
    document = Form(body).fields() if media_type.startswith(FORM) else msgspec.json.decode(body)
    return _gathered(Texts(document))


def texts_of_answer(body: bytes) -> AskedTexts:
    """Those of an answer in JSON."""
    return _gathered(Texts(msgspec.json.decode(body), skipped=OWN_MEMBERS))


def plain(texts: AskedTexts) -> str:
    """The words alone."""
    found: Sequence[AskedText] = _decode(texts.json)
    return "\n\n".join(one.text for one in found)


def _gathered(texts: Texts) -> AskedTexts:
    return AskedTexts(_encode([AskedText(unit.where, unit.text) for unit in texts.units]), texts.has_ids)
