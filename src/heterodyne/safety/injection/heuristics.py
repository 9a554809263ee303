"""Cheap rules for prompt injection and jailbreaks: what was found, where, and how sure the rule is.

A text is lower-cased once and searched for a few stems; most prompts have none, and no regular expression runs on
them. Where a rule needs two things near each other, the rarer one is looked for in the whole text and the other one
around it, so no input makes a rule slower than linear.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Final

from heterodyne.safety.finding import Finding
from heterodyne.safety.glance import CAPITAL, DIGIT, LETTER, ODD, Glance
from heterodyne.safety.injection import hidden_text, lexicon

FINDINGS_PER_RULE_MAX: Final = 16  # a text that says one thing a thousand times is no surer a case
STARTS_MAX: Final = 4_096  # words that rules begin at: the bound on what one text can cost

OVERRIDE: Final = "instruction_override"
JAILBREAK: Final = "jailbreak_frame"
PRIVILEGED_MODE: Final = "privileged_mode"
SYSTEM_PROMPT: Final = "system_prompt_request"
TEMPLATE_TOKEN: Final = "template_token"  # noqa: S105 - of a chat template
FAKE_TURN: Final = "fake_turn"
DELIMITER: Final = "delimiter_abuse"
ENCODED: Final = "encoded_payload"
FLOODING: Final = "flooding"  # more words that rules begin at than are looked at
HIDDEN: Final = ("tag_characters", "zero_width", "bidirectional_override", "variation_selectors")

RULES: Final = (
    OVERRIDE,
    JAILBREAK,
    PRIVILEGED_MODE,
    SYSTEM_PROMPT,
    TEMPLATE_TOKEN,
    FAKE_TURN,
    DELIMITER,
    ENCODED,
    FLOODING,
    *HIDDEN,
)

Rule = Callable[[str, int], Finding | None]  # a lower-cased text, and where the word is that the rule was noticed by

# How far two halves of a rule may stand apart, in characters.
_OVERRIDE_REACH, _OVERRIDE_AFTER = 60, 30
_FRAME_REACH = 300
_SECRET_REACH = 60  # before its last word
_ASK_REACH = 60
_OTHERS_REACH = 40
_OBEY_REACH = 100
_ALONE_REACH = 80
_BASE64_RUN = 64 * LETTER  # less than a line of a MIME part

_VERBS = re.compile(lexicon.OVERRIDE_VERBS)
_NOUNS = re.compile(lexicon.OVERRIDE_NOUNS)
_WEAK_NOUNS = re.compile(lexicon.OVERRIDE_WEAK_NOUNS)
_QUALIFIERS = re.compile(lexicon.OVERRIDE_QUALIFIERS)
_WEAK_QUALIFIERS = re.compile(lexicon.OVERRIDE_WEAK_QUALIFIERS)
_VERBS_OTHERS = re.compile(lexicon.OVERRIDE_VERBS_OTHERS)
_NOUNS_OTHERS = re.compile(lexicon.OVERRIDE_NOUNS_OTHERS)
_FRAMES = re.compile(lexicon.FRAMES)
_FREEDOMS = re.compile(lexicon.FREEDOMS)
_NAMES = re.compile(lexicon.JAILBREAK_NAMES)
_MODES = re.compile(lexicon.PRIVILEGED_MODES)
_ASKS = re.compile(lexicon.ASKS)
_SECRETS = re.compile(lexicon.MODEL_SECRETS)
_TOKENS = re.compile(lexicon.TEMPLATE_TOKENS)
_TURNS = re.compile(lexicon.FAKE_TURNS)
_DELIMITERS = re.compile(lexicon.DELIMITERS)
_DECODES = re.compile(lexicon.DECODES)
_OBEYS = re.compile(lexicon.OBEYS)
_BASE64 = re.compile(r"[A-Za-z0-9+/]{64,}+={0,2}")
_IS_MIXED = re.compile(r"(?=[^a-z]*[a-z])(?=[^A-Z]*[A-Z])(?=[^0-9]*[0-9])")

# Letters are lower-cased and stay, every other byte of ASCII becomes a space: what is left is words.
_WORDS = bytes(ord(chr(byte).lower()) if chr(byte).isalnum() or byte > 127 else 32 for byte in range(256))
_KEYWORDS = frozenset(word.encode() for word in lexicon.KEYWORDS)


def find(text: str) -> tuple[Finding, ...]:
    """Everything that the rules find in a text, in the order of its characters."""
    return found_in(Glance(text))


def found_in(glance: Glance) -> tuple[Finding, ...]:
    """The same of a text that was glanced at."""
    text, kinds = glance.text, glance.kinds
    found: list[Finding] = []
    is_ascii = text.isascii()
    if not is_ascii or _has_border(text, kinds) or not _KEYWORDS.isdisjoint(text.encode().translate(_WORDS).split()):
        found += _in_words(text, is_ascii)
    if DIGIT in kinds and CAPITAL in kinds and glance.has_run(_BASE64_RUN):
        found += islice(_base64(text), FINDINGS_PER_RULE_MAX)
    return tuple(sorted(set(found))) if found else ()  # two words of one phrase may both have led to it


def _has_border(text: str, kinds: str) -> bool:
    return "<" in kinds or ("-" in kinds and "--" in text) or (ODD in kinds and "==" in text)


def _in_words(text: str, is_ascii: bool) -> Iterator[Finding]:
    """One scan for the words that rules begin at; each rule then looks around its word."""
    lowered = text.lower()
    if len(lowered) != len(text):  # one capital of Turkish becomes two characters, and spans would be off
        lowered = text.replace("İ", "i").lower()
    left = dict.fromkeys(RULES, FINDINGS_PER_RULE_MAX)
    for count, start in enumerate(_STARTS.finditer(lowered)):
        if count == STARTS_MAX:
            yield Finding(start=start.start(), end=len(text), rule=FLOODING, score=0.5)
            break
        for rule in _RULES_AT[start[0]]:
            found = rule(lowered, start.start())
            if found is not None and left[found.rule] > 0:
                left[found.rule] -= 1
                yield found
    if not is_ascii:
        yield from islice(hidden_text.find(text), FINDINGS_PER_RULE_MAX)


def _override(lowered: str, at: int) -> Finding | None:
    verb = _VERBS.match(lowered, at)
    if verb is None:
        return None
    for nouns, qualifiers in ((_NOUNS, _QUALIFIERS), (_WEAK_NOUNS, _WEAK_QUALIFIERS)):
        noun = nouns.search(lowered, verb.end(), verb.end() + _OVERRIDE_REACH)
        if noun is not None and qualifiers.search(lowered, verb.end(), noun.end() + _OVERRIDE_AFTER):
            return Finding(start=at, end=noun.end(), rule=OVERRIDE, score=0.85)
    return None


def _override_in_other_languages(lowered: str, at: int) -> Finding | None:
    noun = _NOUNS_OTHERS.match(lowered, at)
    if noun is None:
        return None
    verb = _VERBS_OTHERS.search(lowered, max(0, at - _OTHERS_REACH), noun.end() + _OTHERS_REACH)
    if verb is None:
        return None
    return Finding(start=min(verb.start(), at), end=max(verb.end(), noun.end()), rule=OVERRIDE, score=0.8)


def _frame(lowered: str, at: int) -> Finding | None:
    freedom = _FREEDOMS.match(lowered, at)
    if freedom is None:
        return None
    frame = _FRAMES.search(lowered, max(0, at - _FRAME_REACH), at)
    return frame and Finding(start=frame.start(), end=freedom.end(), rule=JAILBREAK, score=0.75)


def _secret(lowered: str, at: int) -> Finding | None:
    secret = _SECRETS.search(lowered, max(0, at - _SECRET_REACH), at + _SECRET_REACH)
    if secret is None:
        return None
    ask = _ASKS.search(lowered, max(0, secret.start() - _ASK_REACH), secret.start())
    return ask and Finding(start=ask.start(), end=secret.end(), rule=SYSTEM_PROMPT, score=0.65)


def _decoding(lowered: str, at: int) -> Finding | None:
    decode = _DECODES.match(lowered, at)
    obey = decode and _OBEYS.search(lowered, decode.end(), decode.end() + _OBEY_REACH)
    return obey and Finding(start=at, end=obey.end(), rule=ENCODED, score=0.6)


def _alone(pattern: re.Pattern[str], rule: str, score: float, *, back: int = 0) -> Rule:
    """A rule for which one match is enough; it begins at most `back` characters before the word it was noticed by."""

    def match(lowered: str, at: int) -> Finding | None:
        found = pattern.search(lowered, at - back if at > back else 0, at + _ALONE_REACH)
        if found is None or found.start() > at:
            return None
        return Finding(start=found.start(), end=found.end(), rule=rule, score=score)

    return match


def _base64(text: str) -> Iterator[Finding]:
    for match in _BASE64.finditer(text):
        if _IS_MIXED.match(text, match.start(), match.end()):  # not a long word, a rule or a number
            yield Finding(start=match.start(), end=match.end(), rule=ENCODED, score=0.3)


_mode = _alone(_MODES, PRIVILEGED_MODE, 0.7, back=30)
_name = _alone(_NAMES, JAILBREAK, 0.9, back=10)
_token = _alone(_TOKENS, TEMPLATE_TOKEN, 0.9)
_turn = _alone(_TURNS, FAKE_TURN, 0.5, back=8)
_delimiter = _alone(_DELIMITERS, DELIMITER, 0.5, back=12)

# The words that rules are noticed by. Each is a literal, so that one scan for all of them is quick.
_NOTICED_BY: Final[tuple[tuple[Rule, tuple[str, ...]], ...]] = (
    (_override, ("ignor", "disregard", "forget", "overrid", "bypass", "overlook", "neglect", "discard")),
    (_override, ("do not ", "don't ", "stop following", "pay no", "set aside", "no longer ", "turn off", "disable")),
    (_override_in_other_languages, lexicon.OVERRIDE_NOUN_STEMS_OTHERS),
    (_frame, ("no r", "no l", "no f", "no b", "no g", "no c", "no m", "no e", "without ", "unfiltered", "uncensored")),
    (_frame, ("unrestricted", "unbound", "amoral", "free ", "not bound", "break", "broken", "does not ", "doesn't ")),
    (
        _frame,
        ("do not ", "don't ", "never refuse", "not refuse", "cannot refuse", "can't refuse", "no matter", "bypass"),
    ),
    (_frame, ("regardless",)),
    (_secret, ("prompt", "instruc", "guideline", "rules", "above", "password", " key", "configuration", "directive")),
    (
        _decoding,
        ("decod", "decrypt", "decipher", "deobfuscate", "unscramble", "base64", "base 64", "rot13", "leetspeak"),
    ),
    (
        _name,
        ("anything now", "dan mode", "dan jail", "as dan", "as a dan", "jailbreak", "in character", "opposite mode"),
    ),
    (_name, ("evil mode", "evil conf")),
    (_mode, (" mode", "-mode", "system overrid")),
    (_token, ("<|", "<｜", "[inst", "[/inst", "<<sys", "<</sys", "<start_of", "<end_of")),
    (_turn, ("system", "developer", "new instruction")),
    (
        _delimiter,
        ("end of", "begin", "start of", "</", "<!--", "new instruction", "new system", "important instruction"),
    ),
)
_RULES_AT: Final[dict[str, tuple[Rule, ...]]] = {}
for _rule, _words in _NOTICED_BY:
    for _word in _words:
        _RULES_AT[_word] = (*_RULES_AT.get(_word, ()), _rule)


def _trie(words: Iterable[str]) -> str:
    """A pattern for any of the words that looks at each letter once, the longest word first."""
    by_first: dict[str, list[str]] = {}
    for word in words:
        by_first.setdefault(word[:1], []).append(word[1:])
    is_whole = by_first.pop("", None) is not None
    branches = [re.escape(first) + (_trie(rest) if any(rest) else "") for first, rest in sorted(by_first.items())]
    return f"(?:{'|'.join(branches)}){'?' * is_whole}"


_STARTS = re.compile(_trie(_RULES_AT))
