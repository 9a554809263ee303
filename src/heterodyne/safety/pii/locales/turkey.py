"""Türkiye: national identity numbers, telephones and number plates."""

import re
from typing import Final

from heterodyne.safety.pii.checksums import weighted
from heterodyne.safety.pii.recogniser import END, LIKELY, SURE, Recogniser, shape, words

SUBSCRIBER: Final = r"(?:\([2-5][0-9]{2}\)|[2-5][0-9]{2})[- .]?[0-9]{3}[- .]?[0-9]{2}[- .]?[0-9]{2}"
TELEPHONE: Final = words("telefon", "tel", "cep", "gsm", "phone", "numaram", "mobil", "ara")


def _is_national_id(text: str) -> bool:
    tenth = (weighted(text, (7, -1) * 4 + (7,))) % 10
    return tenth == int(text[9]) and sum(map(int, text[:10])) % 10 == int(text[10])


RECOGNISERS: Final = (
    Recogniser(
        rule="tr_national_id",
        score=LIKELY,
        digits_min=11,
        raised=SURE,
        check=_is_national_id,
        context=words("tc", "tckn", "kimlik", "t.c.", "turkish id", "başvuru"),
        pattern=shape(r"[1-9][0-9]{10}"),
    ),
    Recogniser(
        rule="tr_phone",
        score=0.8,
        digits_min=10,
        context=TELEPHONE,
        pattern=re.compile(rf"(?<!\w)\+90[- .]?{SUBSCRIBER}{END}"),
    ),
    Recogniser(
        rule="tr_phone",
        digits_min=10,
        context=TELEPHONE,
        pattern=shape(rf"(?:0[- .]?)?{SUBSCRIBER}"),
    ),
    Recogniser(
        rule="tr_number_plate",
        digits_min=4,
        context=words("plaka", "araç", "plate", "arac"),
        pattern=shape(r"(?:0[1-9]|[1-7][0-9]|8[01]) ?[A-PR-VYZ]{1,3} ?[0-9]{2,5}"),
    ),
)
