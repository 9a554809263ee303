"""Finds personal data in a text. A quick look decides which recognisers could match at all, and where."""

from collections.abc import Collection
from typing import Final

from heterodyne.safety.finding import Finding
from heterodyne.safety.glance import DIGIT, LONG_WORD, Glance
from heterodyne.safety.overlaps import resolve
from heterodyne.safety.pii.ages import SPELT_AGE, ages_in_words
from heterodyne.safety.pii.clusters import Cluster, clusters
from heterodyne.safety.pii.contact import email_addresses
from heterodyne.safety.pii.network import ipv6_addresses
from heterodyne.safety.pii.recogniser import THRESHOLD, Recogniser, matches, words_near
from heterodyne.safety.pii.registry import ANYWHERE, BY_WORDS, BY_WORDS_TOO, DEFAULT_KINDS, EVERYWHERE, KINDS, LOCALES
from heterodyne.safety.pii.words.by_words import by_words

DIGITS_MOST: Final = 20  # no recogniser asks for more
COLONS_MIN: Final = 5  # of an address without two in a row


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
        alone = [recogniser for recogniser in by_digits if recogniser.score >= threshold]
        self._alone = _by_digits([recogniser for recogniser in alone if not recogniser.is_long])
        self._alone_or_long = _by_digits(alone)
        # Those that count beside their words only, and the numbers of them by these words.
        self._beside = [one for one in by_digits if one.score < threshold <= one.raised and one.context is not None]
        self._by_word: dict[bytes, list[int]] = {}
        self._by_foreign_words: list[int] = []
        for number, recogniser in enumerate(self._beside):
            assert recogniser.context is not None
            for word in recogniser.context.first_words:
                self._by_word.setdefault(word, []).append(number)
            if recogniser.context.is_foreign:
                self._by_foreign_words.append(number)
        self._words = frozenset(self._by_word)
        self._has_email = "email" in kinds
        self._anywhere = [recogniser for recogniser in ANYWHERE if recogniser.rule in kinds]
        self._long = [recogniser for recogniser in self._anywhere if recogniser.rule == "url"]
        self._without_digits = [recogniser for recogniser in by_digits if recogniser.rule == "mac_address"]
        self._has_age = "age" in kinds and threshold <= SPELT_AGE
        self._has_ip = "ip_address" in kinds
        self._has_words = not set(kinds).isdisjoint((*BY_WORDS, *BY_WORDS_TOO))
        self._unwanted_words = frozenset((*BY_WORDS, *BY_WORDS_TOO)) - set(kinds)

    def find(self, text: str) -> list[Finding]:
        """What was found, in order; no two findings overlap."""
        return self.found_in(Glance(text))

    def found_in(self, glance: Glance) -> list[Finding]:
        """The same of a text that was glanced at."""
        found: list[Finding] = []
        text, kinds = glance.text, glance.kinds
        numbers = clusters(glance) if DIGIT in kinds else []
        if numbers:
            alone = self._alone_or_long if glance.has_run(LONG_WORD) else self._alone
            for cluster in numbers:
                self._in_cluster(glance, cluster, alone[min(cluster.digits, DIGITS_MOST)], found)
        if self._has_email and "@" in text:
            found += email_addresses(text, self._threshold)
        if ":" in kinds and ("::" in text or kinds.count(":") >= COLONS_MIN):
            for recogniser in self._without_digits:
                found += matches(recogniser, text, 0, len(text), self._threshold)
            if self._has_ip:
                found += ipv6_addresses(text, self._threshold)
        for recogniser in self._anywhere:
            found += matches(recogniser, text, 0, len(text), self._threshold)
        if self._has_age:
            found += ages_in_words(text)
        if self._has_words:
            found += by_words(glance, self._threshold, numbers)
        return self._wanted(resolve(found)) if found else found

    def long_ones_in(self, glance: Glance) -> list[Finding]:
        """Those that may be longer than what a stream looks at at once: addresses of pages."""
        found: list[Finding] = []
        for recogniser in self._long:
            found += matches(recogniser, glance.text, 0, len(glance.text), self._threshold)
        return found

    def _in_cluster(
        self, glance: Glance, cluster: Cluster, alone: tuple[Recogniser, ...], found: list[Finding]
    ) -> None:
        """What the digits of one part of a text are."""
        text, start, end = glance.text, cluster.start, cluster.end
        near = glance.kinds[start:end]
        for recogniser in alone:
            if _may_match(recogniser, near):
                found += matches(recogniser, text, start, end, self._threshold)
        words = self._words.intersection(words_near(text, start, end))
        numbers = {number for word in words for number in self._by_word[word]} if words else set()
        if not text.isascii():
            numbers.update(self._by_foreign_words)
        for number in numbers:
            recogniser = self._beside[number]
            if recogniser.digits_min <= cluster.digits and _may_match(recogniser, near):
                found += matches(recogniser, text, start, end, self._threshold)

    def _wanted(self, found: list[Finding]) -> list[Finding]:
        """Without kinds that are judged only because others are: a company is not to be taken for a person."""
        return [finding for finding in found if finding.rule not in self._unwanted_words]


def _by_digits(recognisers: list[Recogniser]) -> list[tuple[Recogniser, ...]]:
    """Those that may match where a text has so many digits."""
    return [
        tuple(recogniser for recogniser in recognisers if recogniser.digits_min <= count)
        for count in range(DIGITS_MOST + 1)
    ]


def _may_match(recogniser: Recogniser, kinds: str) -> bool:
    telling = recogniser.telling
    return telling in kinds and (recogniser.telling_min == 1 or kinds.count(telling) >= recogniser.telling_min)
