"""Every kind of personal data and every country, with the recognisers of each."""

from typing import Final

from heterodyne.safety.pii.ages import AGES
from heterodyne.safety.pii.contact import PHONES, POSTAL_CODES
from heterodyne.safety.pii.crypto import CRYPTO
from heterodyne.safety.pii.dates import BIRTHS, DATE_WORDS, DATES
from heterodyne.safety.pii.finance import CARDS, IBANS
from heterodyne.safety.pii.locales import asia, au, ca, de, es, india, it, nordic, others, pl, turkey, uk, us
from heterodyne.safety.pii.network import IPV4S, MACS, URLS
from heterodyne.safety.pii.recogniser import Recogniser

# What is recognised everywhere by its digits.
EVERYWHERE: Final[tuple[Recogniser, ...]] = (
    *CARDS,
    *IBANS,
    *PHONES,
    *POSTAL_CODES,
    *IPV4S,
    *MACS,
    *CRYPTO,
    *BIRTHS,
    *AGES,
    *DATES,
)

# What is recognised in a country, by the word that settings name it with.
LOCALES: Final[dict[str, tuple[Recogniser, ...]]] = {
    "us": us.RECOGNISERS,
    "uk": uk.RECOGNISERS,
    "ca": ca.RECOGNISERS,
    "au": au.RECOGNISERS,
    "de": de.RECOGNISERS,
    "es": es.RECOGNISERS,
    "it": it.RECOGNISERS,
    "pl": pl.RECOGNISERS,
    "nordic": nordic.RECOGNISERS,
    "in": india.RECOGNISERS,
    "asia": asia.RECOGNISERS,
    "tr": turkey.RECOGNISERS,
    "others": others.RECOGNISERS,
}

BY_WORDS: Final = ("person", "place", "street_address", "organisation")
BY_WORDS_TOO: Final = ("age", "postal_code")  # beside names and places
ANYWHERE: Final[tuple[Recogniser, ...]] = (*URLS, *DATE_WORDS)  # looked for in every text
KINDS: Final[frozenset[str]] = frozenset(
    [recogniser.rule for recogniser in (*EVERYWHERE, *ANYWHERE)]
    + [recogniser.rule for pack in LOCALES.values() for recogniser in pack]
    + ["email", *BY_WORDS]
)
# What seldom tells who somebody is; a policy may ask for it.
ON_REQUEST: Final[frozenset[str]] = frozenset({"date", "url", "organisation"})
DEFAULT_KINDS: Final[frozenset[str]] = KINDS - ON_REQUEST
