"""Finds personal data in a text. A quick look decides which recognisers could match at all, and where."""

from collections.abc import Collection
from typing import Final

from heterodyne.safety.finding import Finding
from heterodyne.safety.overlaps import resolve
from heterodyne.safety.pii.clusters import clusters
from heterodyne.safety.pii.contact import email_addresses
from heterodyne.safety.pii.network import ipv6_addresses
from heterodyne.safety.pii.recogniser import THRESHOLD, Recogniser, matches
from heterodyne.safety.pii.registry import ANYWHERE, BY_WORDS, DEFAULT_KINDS, EVERYWHERE, KINDS, LOCALES
from heterodyne.safety.pii.words.by_words import by_words
from heterodyne.safety.quick_look import DIGITS, everything_but, tell

DIGITS_MOST: Final = 20  # no recogniser asks for more
MARKS: Final = b"@:"
UNTOLD: Final = everything_but(DIGITS + MARKS)


class PIIFinder:
    """Looks for kinds of personal data of some countries. One for every policy, made when it is read."""

    def __init__(
        self,
        kinds: Collection[str] = DEFAULT_KINDS,
        locales: Collection[str] = tuple(LOCALES),
        threshold: float = THRESHOLD,
    ) -> None:
        if unknown := sorted(set(kinds) - KINDS):
            raise ValueError(f"no kind of personal data {unknown[0]!r}")
        if unknown := sorted(set(locales) - LOCALES.keys()):
            raise ValueError(f"no locale {unknown[0]!r}")
        self._threshold = threshold
        packs = [EVERYWHERE, *(LOCALES[locale] for locale in LOCALES if locale in locales)]
        by_digits = [recogniser for pack in packs for recogniser in pack if recogniser.rule in kinds]
        # The recognisers that may match where a text has so many digits.
        self._of_digits: list[list[Recogniser]] = [
            [recogniser for recogniser in by_digits if recogniser.digits_min <= count]
            for count in range(DIGITS_MOST + 1)
        ]
        self._has_email = "email" in kinds
        self._anywhere = [recogniser for recogniser in ANYWHERE if recogniser.rule in kinds]
        self._without_digits = [recogniser for recogniser in by_digits if recogniser.rule == "mac_address"]
        self._has_ip = "ip_address" in kinds
        self._has_words = not set(kinds).isdisjoint(BY_WORDS)
        self._unwanted_words = frozenset(BY_WORDS) - set(kinds)

    def find(self, text: str) -> list[Finding]:
        """What was found, in order; no two findings overlap."""
        found: list[Finding] = []
        threshold = self._threshold
        told = tell(text, UNTOLD)
        digits = clusters(text) if told.strip(MARKS) else []
        for cluster in digits:
            for recogniser in self._of_digits[min(cluster.digits, DIGITS_MOST)]:
                if recogniser.pattern.search(text, cluster.start, cluster.end) is not None:
                    found += matches(recogniser, text, cluster.start, cluster.end, threshold)
        if told:
            found += self._by_marks(text, told)
        for recogniser in self._anywhere:
            found += matches(recogniser, text, 0, len(text), threshold)
        if self._has_words:
            found += by_words(text, threshold, digits)
        return self._wanted(resolve(found)) if found else found

    def _by_marks(self, text: str, told: bytes) -> list[Finding]:
        """What has an at sign or colons in it."""
        found: list[Finding] = []
        if self._has_email and b"@" in told:
            found += email_addresses(text, self._threshold)
        if "::" in text or told.count(b":") >= 5:
            for recogniser in self._without_digits:
                found += matches(recogniser, text, 0, len(text), self._threshold)
            if self._has_ip:
                found += ipv6_addresses(text, self._threshold)
        return found

    def _wanted(self, found: list[Finding]) -> list[Finding]:
        """Without kinds that are judged only because others are: a company is not to be taken for a person."""
        return [finding for finding in found if finding.rule not in self._unwanted_words]
