"""Street addresses: words and numbers read one after another from where an address could begin, and weighed."""

import re
from typing import Final

from msgspec import Struct

from heterodyne.safety.finding import Finding
from heterodyne.safety.glance import CAPITAL, Glance
from heterodyne.safety.pii.clusters import Cluster
from heterodyne.safety.pii.words.address_lines import address_lines
from heterodyne.safety.pii.words.common import LOWER
from heterodyne.safety.pii.words.place_names import COUNTRIES, PLACES
from heterodyne.safety.pii.words.runs import UPPER
from heterodyne.safety.pii.words.word_set import word_set

# Words for streets: in English after the name, in Romance languages before it, in Germanic ones grown onto it.
STREET_WORD: Final = re.compile(
    r"(?:street|st\.?|avenue|ave\.?|road|rd\.?|boulevard|blvd\.?|drive|dr\.?|lane|ln\.?|way|court|ct\.?|square|sq\.?|"
    r"terrace|place|pl\.?|parkway|pkwy|circle|crescent|highway|hwy|alley|close|grove|mews|row|quay|trail|turnpike|"
    r"rua|rue|via|viale|calle|avenida|avda\.?|av\.?|carrer|paseo|plaza|piazza|corso|largo|travessa|camino|chemin|allée|impasse|"
    r"ul\.?|ulica|aleja|al\.|utca|u\.|út|útja|tér|fasor|krt\.|ulitsa|prospekt|trg|cesta|náměstí|třída|"
    r"extension|extensions|fort|isle|coves?|parks?|squares?|point|union|streets|roads|drives|lanes|avenues|"
    r"λεωφόρος|οδός|.{3,}(?:strasse|straße|str\.?|weg|gasse|platz|allee|gata|gatan|gate|gaten|gade|vej|vägen|"
    r"veien|vegen|"
    r"katu|tie|kuja|polku|straat|laan|gracht|plein|dijk|kade|stræti|braut|vegur|hove|terrasse|tänav|stien|"
    r"stigen|gränd))",
    re.IGNORECASE,
)
WEAK_STREET_WORDS: Final = word_set(
    """
    al. close court cove coves dr dr. fort isle largo park parks pl pl. place point row st st. union via way
    """
)
UNIT: Final = re.compile(
    r"(?:apt|apartment|suite|ste|unit|flat|floor|room|box|pob|psc|p\.o|p\.o\.|postbox|postfach|postboks)\.?",
    re.IGNORECASE,
)
UNIT_BEFORE: Final = re.compile(r"\b(?:apt|apartment|suite|ste|unit|flat|floor|room)\.? $", re.IGNORECASE)
UNIT_CHARACTERS: Final = 12
NUMBER: Final = re.compile(r"#?[0-9]{1,6}[A-Za-z]?(?:[-/][0-9]{1,4}[A-Za-z]?)?(?:-[0-9]{4})?\.?")
# Romance languages write these small, before a name that has a capital.
SMALL_TYPES: Final = ("rue ", "avenue ", "boulevard ", "chemin ", "impasse ", "allée ", "quai ", "calle ", "rua ")
SMALL_TYPE: Final = (
    rf"(?:{'|'.join(one.rstrip() for one in SMALL_TYPES)})"
    rf"(?= (?:(?:de|du|des|da|do|dos|das|la|le|les|del|los|las) )*(?:[dl]['’])?[{UPPER}])"
)
TOKEN: Final = re.compile(
    r"#?[0-9]{1,6}(?:[-/][0-9]{1,4})?[A-Za-z]?(?![\w:])\.?(?=[\s,;?!)\"']|$)"
    rf"|[{UPPER}∆][\w'’()-]*+(?:\.[A-Z]\.?)?(?!:)|{SMALL_TYPE}|[dl]['’][{UPPER}][\w-]*+|(?:ul|u|krt|sk)\.|\((?:[{UPPER}][\w-]*+)\)|nan\b"
)
PARTICLE: Final = re.compile(
    r"(?:de la|de los|de|del|della|dei|delle|degli|di|da|do|dos|das|la|le|les|du|des|van der|van den|van de|van|"
    r"den|von|"
    r"der|zum|zur|am|an|im|of|el|al|af|på|ved|til|y|e|i|útja|utca|út|tér|fejedelem|gt\.|terrasse|vei|gate|gata|"
    r"alle|tee|mnt|pst)"
    r"(?=\s)"
)
REGION: Final = re.compile(
    r"(?<=[\s,])[A-Z]{2}(?=,?[ \t]+[0-9])"
)  # a state or province, though "NO" and "OR" are words
SEPARATOR: Final = re.compile(r"[ \t]{1,2}|[ \t]?,[ \t]?\n?[ \t]?|[ \t]?\n[ \t]?,?[ \t]?(?:\n[ \t])?(?!\n)")
NUMBER_FIRST: Final = re.compile(
    rf"[0-9](?<![\w$€£#.,:/-].)[0-9]{{0,4}}[A-Za-z]?(?:-[0-9]{{1,4}})?,?[ \n]"
    rf"(?=[{UPPER}0-9]|u[lt]?\.|{'|'.join(SMALL_TYPES)})"
)
# The boundary stands behind the first letter: a set at the start is searched for faster.
WORD_FIRST: Final = re.compile(
    r"[PURVCAΛu](?<!\w.)(?:(?<=P)(?:\.?[ ]?O\.?[ ]?Box|ostbox|ost Box|SC|iazza)|(?<=U)nit|(?<=R)u[ae]|(?<=V)ia(?:le)?|"
    r"(?<=C)(?:alle|/)|(?<=A)venida|(?<=Λ)εωφόρος|(?<=u)l\.)[ ](?=\w)"
)
STREET_RUN: Final = re.compile(
    rf"\b(?:[{UPPER}][\w'’-]*+[ ]){{1,4}}(?:Street|St|Road|Rd|Avenue|Ave|Boulevard|Blvd|Lane|Drive|Square|Terrace)\b\.?"
)


def _number_last(upper: str) -> re.Pattern[str]:
    """A name, or a compound that ends in a word for a street, and then the number, as Germans and Finns write it."""
    return re.compile(
        rf"[{upper}](?<!\w.)[\w'’.-]*+[ ](?:[{upper}][\w'’.-]*+[ ]){{0,3}}[0-9]{{1,4}}[A-Za-z]?\b\.?(?=[ ,.\n?!)]|$)"
    )


NUMBER_LAST: Final = _number_last(UPPER)
NUMBER_LAST_ASCII: Final = _number_last("A-Z")  # quicker, for a text without other letters
SMALL_STREET_WORDS: Final = ("u.", "ul.", "ut.", "krt.", *SMALL_TYPES)  # that an address without a capital has
CORNER: Final = re.compile(
    rf"(?<=corner of )(?:[{UPPER}0-9][\w'’.-]*+[ ]?|de |del |ul\. |"
    rf"u\. ){{1,6}}and (?:[{UPPER}0-9][\w'’.-]*+[ ]?){{1,5}}"
)
CONTEXT: Final = re.compile(
    r"(?:\baddress(?:es)?(?: is| are|:| with| to| as)?|\b(?:live|lives|lived|living|reside[sd]?|residing|"
    r"stay(?:s|ing)?) (?:on|at|in|near)|"
    r"\b(?:meet|meeting|met)(?: \w+){0,3} at|\b(?:sen[dt]|ship(?:ped)?|deliver(?:ed)?|mail(?:ed)?|return(?:ed)?|"
    r"taxi|ride|"
    r"drive|move|moved|relocated)(?: (?:it|one|this|them|me|a new one|to be sent))? to|\blocated (?:at|on|in)|"
    r"\bis (?:at|on)|"
    r"\boffice (?:is )?(?:at|on|in)|\bsent to\??(?: user:)?|"
    r"\bit is|\bit['’]s in|"
    r"\bhome:|\bstreet:|\bresidence:|\baddress\? it is|\baddress:)\s*$",
    re.IGNORECASE,
)
CONTEXT_ENDS: Final = ("address", "addresses", ":", "?", "is", "are", "with", "to", "as", "on", "at", "in", "near")
CORNER_EVIDENCE: Final = 5  # more than that of one of its streets
TOKENS_MOST: Final = 20
TELEPHONE_GOES_ON: Final = re.compile(r"(?:[-. ][0-9]{2,}){2}")
TELEPHONE_GROUPS: Final = 3  # of digits in a row: a postal code has two at most
EVIDENCE_LEAST: Final = 2
NUMBERS_MOST: Final = 3  # before the first word
REACH_BEFORE: Final = 40  # how far before the digits the name of a street may begin
CONTEXT_CHARACTERS: Final = 48


def street_addresses(
    glance: Glance, places: list[re.Match[str]], digits: list[Cluster], threshold: float
) -> list[Finding]:
    """Every address that has evidence enough: a word for a street, a flat, a postal code, or words before it."""
    text = glance.text
    reader = _Reader(text)
    found: list[Finding] = []
    at = 0
    number_last = NUMBER_LAST_ASCII if text.isascii() else NUMBER_LAST
    needs_capital = text.isascii() and not any(word in text for word in SMALL_STREET_WORDS)
    for cluster in digits:
        start = max(at, cluster.start - REACH_BEFORE)
        if needs_capital and CAPITAL not in glance.kinds[start : cluster.end + REACH_BEFORE]:
            continue
        for pattern in (NUMBER_FIRST, WORD_FIRST, number_last):
            for match in pattern.finditer(text, start, cluster.end):
                finding = _of_number_last(reader, match) if pattern is number_last else _of_start(reader, match.start())
                if finding is not None and (finding.end > at or finding.start < found[-1].start):
                    found.append(finding)
                    at = finding.end if pattern is not number_last else at
    streets = (STREET_RUN.search(text, *place.span()) for place in places if " " in place[0])
    found += [_finding(*_trimmed(text, street), 2) for street in streets if street is not None]
    if "corner of " in text:
        found += [_finding(*_trimmed(text, match), CORNER_EVIDENCE) for match in CORNER.finditer(text)]
    found += address_lines(text)
    return [finding for finding in found if finding.score >= threshold]


def _is_introduced(text: str, start: int) -> bool:
    """Whether words before an address say that one comes."""
    before = text[max(0, start - CONTEXT_CHARACTERS) : start]
    return before.rstrip().lower().endswith(CONTEXT_ENDS) and CONTEXT.search(before) is not None


def _of_start(reader: "_Reader", start: int) -> Finding | None:
    end, evidence = reader.read(start)
    return _finding(start, end, evidence) if end and evidence >= EVIDENCE_LEAST else None


def _finding(start: int, end: int, evidence: int) -> Finding:
    return Finding(start=start, end=end, rule="street_address", score=min(0.95, 0.62 + 0.08 * evidence))


class _Reader:
    """Reads addresses in one text. Where one begins at every word, each word is still read once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._tokens: dict[int, _Token | None] = {}

    def read(self, start: int) -> tuple[int, int]:
        """Where an address that begins here ends, and the evidence that it is one."""
        text, tokens = self.text, self._tokens
        at, end, words, numbers = start, 0, 0, 0
        is_street = is_unit = is_place = False
        groups = before_groups = 0  # of digits in a row behind the last word, and where that ends
        for _ in range(TOKENS_MOST):
            token = tokens[at] if at in tokens else tokens.setdefault(at, _token(text, at))
            if token is None:
                break
            if token.is_number:
                numbers += 1
                if words:
                    groups += 1
                    if groups == TELEPHONE_GROUPS:
                        end = before_groups
                        break
                elif numbers > NUMBERS_MOST:
                    break
                end = token.end
            elif not token.is_particle:
                if not token.is_region:
                    if words and token.is_common:
                        break
                    words += 1
                    is_unit |= token.is_unit
                    is_street |= token.is_street and (numbers > 0 or not token.is_weak)
                    is_place |= token.is_place
                groups, before_groups, end = 0, token.word_end, token.end
            at = token.next_at
            if at < 0:
                break
        if not words or not (numbers or is_street):
            return 0, 0
        evidence = 2 * is_street + 2 * is_unit + is_place + (numbers > 1)
        return end, evidence + self._beside(start, is_year=not is_unit and numbers == 1)

    def _beside(self, start: int, *, is_year: bool) -> int:
        """What stands before an address says for it, or its first number against it."""
        text = self.text
        if _is_introduced(text, start) or UNIT_BEFORE.search(text[max(0, start - UNIT_CHARACTERS) : start]) is not None:
            return 2
        first = text[start : start + 4]
        return -2 if is_year and first.isdigit() and first[:2] in ("19", "20") else 0


class _Token(Struct, frozen=True, kw_only=True, gc=False):
    """A word or a number where an address is read, or what may stand between two."""

    end: int  # with the full stop of an abbreviation
    next_at: int  # where the next one may begin; -1: none can
    word_end: int = 0
    is_particle: bool = False
    is_number: bool = False
    is_region: bool = False
    is_common: bool = False  # and no part of addresses
    is_unit: bool = False
    is_street: bool = False
    is_weak: bool = False  # a word for a street that has other meanings
    is_place: bool = False


def _token(text: str, at: int) -> _Token | None:
    token = TOKEN.match(text, at)
    if token is None:
        particle = PARTICLE.match(text, at)
        return particle and _Token(end=0, next_at=_behind(text, particle.end()), is_particle=True)
    word, word_end = token[0], token.end()
    end, lower = word_end + _has_full_stop(text, word_end, word), word.lower()
    is_unit = UNIT.fullmatch(word) is not None
    is_street = not is_unit and STREET_WORD.fullmatch(word) is not None
    return _Token(
        end=end,
        next_at=_behind(text, end),
        word_end=word_end,
        is_number=word[0] in "#0123456789",
        is_region=REGION.match(text, at) is not None,
        is_common=lower in LOWER and not _belongs(word),
        is_unit=is_unit,
        is_street=is_street,
        is_weak=lower in WEAK_STREET_WORDS,
        is_place=not is_unit and not is_street and word in PLACES,
    )


def _behind(text: str, at: int) -> int:
    separator = SEPARATOR.match(text, at)
    return -1 if separator is None else separator.end()


def _has_full_stop(text: str, at: int, word: str) -> bool:
    """Whether the word is an abbreviation with its full stop."""
    if word[0].isdigit() or word in COUNTRIES or not text.startswith(".", at):
        return False
    return len(word) <= 3 or _belongs(word)


def _of_number_last(reader: _Reader, match: re.Match[str]) -> Finding | None:
    text = reader.text
    if TELEPHONE_GOES_ON.match(text, match.end()) is not None:
        return None
    words = match[0].split()[:-1]
    evidence = 2 * any(
        STREET_WORD.fullmatch(word) is not None and word.lower() not in WEAK_STREET_WORDS for word in words
    )
    if _is_introduced(text, match.start()):
        evidence += 2
    if evidence < EVIDENCE_LEAST:
        return None
    start, end = _trimmed(text, match)
    further_end, further = reader.read(start)
    return _finding(start, max(end, further_end), evidence + further)


def _trimmed(text: str, match: re.Match[str]) -> tuple[int, int]:
    """The match without common words at its start."""
    start, end = match.span()
    while True:
        word = text[start:end].partition(" ")[0]
        if word.lower() not in LOWER or " " not in text[start:end] or _belongs(word):
            break
        start += len(word) + 1
    return start, start + len(text[start:end].rstrip(" .,"))


def _belongs(word: str) -> bool:
    """Whether a common word may stand in an address."""
    return UNIT.fullmatch(word) is not None or STREET_WORD.fullmatch(word) is not None or word.lower() in KEPT


KEPT: Final = word_set(
    """
    black box church east first fourth general green high island king long main new north old p.o park po prince
    princess queen republic royal saint second south st state states third town uk union united us usa village west
    white
    """
)
