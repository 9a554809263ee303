"""How likely a run of capitalised words is somebody's name."""

import re
from typing import Final

from heterodyne.safety.pii.words.before import Before
from heterodyne.safety.pii.words.given_names import AMBIGUOUS, GIVEN_NAMES
from heterodyne.safety.pii.words.runs import TITLES, Run
from heterodyne.safety.pii.words.surnames import AMBIGUOUS_SURNAMES, SURNAMES
from heterodyne.safety.pii.words.word_set import phrase_set, word_set

# Endings of surnames: Slavic, Nordic, Icelandic, Iberian, Armenian, Georgian, Hungarian, Baltic, Greek, Dutch, Celtic.
SURNAME_ENDINGS: Final = word_set(
    """
    son sson sen ssen dóttir dottir ová ova eva ský ská ski ska cki cka wicz czyk czak ak ić ič čić ović vić vich vitch
    vna evich ovich enko chuk yuk ov ev off sky skaya skiy yan shvili adze ez éz ész ssy ösy thy ffy gård gaard qvist
    quist kvist ström strøm strom berg lund gren dahl mann stein feld baum meyer meier maier stra sma huis inen onen nen
    opoulos akis idis oglu oğlu zadeh pour escu eanu aitis ienė unas elli etti ucci acci ini ello ardt aert aerts mans
    kov nov rov lov tov sov mov dze
    """
)
ENDING_SIZES: Final = tuple(sorted({len(ending) for ending in SURNAME_ENDINGS}))
SURNAME_START: Final = re.compile("(?:Mc|Mac|O['’]|Fitz)[A-Z].{2}")
# What a name follows, whatever it is.
SURELY_BEFORE: Final = phrase_set(
    """
    name is, name's, name was, name:, name=, names are, named, named him, named her, named them, named after, name?
    call me, calls me, called me, call him, call her, known as, signed, signed by, sincerely;, sincerely, regards;
    regards, cheers;, thanks;, wishes;, truly;, dear, this is, i am, i'm, patient, patient:, customer:, employee:
    contact:, attn:, attn, she is, he is, my wife, my husband, my brother, my sister, my son, my daughter, my mother
    my father, my boss, my friend, my partner, my colleague, my neighbour, my neighbor, my doctor, my manager
    my wife;, my husband;, my brother;, my sister;, my friend;, partner's name, wife's name, husband's name
    under the name, the name of, under, account of, change it to, correct it to, authored by, written by, sung by
    directed by, starring, played by, mr, mr., mrs, mrs., ms, ms., dr, dr., prof, prof., miss, sir, madam, i'm called
    """
)
# What people do and are: a word on no list is a name after it.
PEOPLE_BEFORE: Final = phrase_set(
    """
    said, says, told, tells, asked, met, invited, married, hi, hi;, hello, hello;, hey, hey;, songwriter, singer, actor
    actress, author, president, minister, founders:, founder:, commenter, assistant to, colleague, friend, uncle, aunt
    cousin, congratulations, congratulations;, leave me, resume for
    """
)
LIKELY_BEFORE: Final = PEOPLE_BEFORE | phrase_set(
    """
    meet, with, by, heard, add, adds, invite, ask, tell, email, emailed, phone, called, thank, thanks, player, director
    founder, ceo, manager, given, gave, remember, sorry;, sorry, wrote
    """
)
# Words that names follow, and much else: enough beside a list.
MAYBE_BEFORE: Final = phrase_set(
    """
    and, or, when did, why is, why did, where is, is, was, did, does, has, for, from, but, though, that, between, to
    about, of, early, late
    """
)
AFTER: Final = re.compile(
    r"['’]s (?!Day)|,? (?:said|says|told|asked|wrote|writes|lives|lived|works|worked|was born|was influenced|"
    r"spent|listed|"
    r"called|calls|replied|smiled|laughed|thinks|thought|wants|wanted|loves|married|has been (?:living|working)|"
    r"had given|points out|can you|can i|could you|is (?:a|an|my|our|so|from|very)|was (?:a|an|born|my)|and i|"
    r"speak|employs|moved|graduated|studied|who (?:is|was))\b|, (?:the|can|could|please|my|our|aged|"
    r"[0-9]{2}\b)",
    re.IGNORECASE,
)
# What only people do: a word that is on no list is a name before it.
DOES: Final = re.compile(
    r",? (?:said|says|told|asked|wrote|lives|lived|works at|worked at|was born|spent|listed|replied|smiled|"
    r"laughed|thinks|"
    r"married|has been (?:living|working)|had given|points out|speak|graduated|studied)\b|"
    r", can (?:i|you)\b|"
    r" is (?:my|from|very|so)\b",
    re.IGNORECASE,
)
BLOCK: Final = re.compile(r"\n(?:[^\n]{0,80}\n){0,6}[^\n]{0,80}(?:@|[0-9]{4})")


def person_score(run: Run, text: str) -> tuple[float, int]:
    """How sure, and how many of the run's words are a title before the name."""
    words = run.words
    if words[0] in TITLES:
        return (0.9, 1) if len(words) > 1 else (0.0, 0)
    if len(words) > 5 or not all(_is_name_like(word) for word in words):
        return 0.0, 0
    first, last, count = words[0], words[-1], len(words)
    is_given = first in GIVEN_NAMES
    is_surname = last in SURNAMES or _ends_like_surname(last)
    before = run.before
    if before.ends_with(SURELY_BEFORE) and (is_given or is_surname or count <= 4):
        return 0.85, 0
    if count > 1:
        return _of_several(run, text, before, is_given=is_given, is_surname=is_surname), 0
    return _of_one(run, text, before, is_given=is_given, is_surname=is_surname), 0


def _ends_like_surname(word: str) -> bool:
    """Whether a word of no list ends or begins as surnames do; an ending has at least two letters before it."""
    size = len(word) - 2
    for ending in ENDING_SIZES:
        if ending > size:
            break
        if word[-ending:] in SURNAME_ENDINGS:
            return True
    return SURNAME_START.match(word) is not None


def _of_several(run: Run, text: str, before: Before, *, is_given: bool, is_surname: bool) -> float:
    words = run.words
    has_initial = any(word.endswith(".") or len(word) == 1 for word in words[1:-1])
    if has_initial and (is_given or is_surname or len(words) == 3):
        return 0.85
    if is_given and is_surname:
        return 0.85
    if is_given and words[0] not in AMBIGUOUS:
        return 0.75
    if words[-1] in SURNAMES and words[-1] not in AMBIGUOUS_SURNAMES:
        return 0.7
    introduced = before.ends_with(LIKELY_BEFORE)
    followed = AFTER.match(text, run.end) is not None
    if (is_given or is_surname) and (followed or introduced or _is_maybe(before)):
        return 0.65
    if followed or (not run.is_first and introduced):
        return 0.52 if len(words) <= 3 else 0.0
    if len(words) <= 3 and _heads_block(run, text):
        return 0.52
    return 0.3


def _heads_block(run: Run, text: str) -> bool:
    """Whether a run is a line of its own above an address, a telephone number or an e-mail address."""
    line = text.rfind("\n", 0, run.start) + 1
    if text[line : run.start].strip(" ?*•-–>\t") or not text.startswith("\n", run.end):
        return False
    return (line == 0 or text[line : run.start] != "" or text.startswith("\n", line - 2)) and BLOCK.match(
        text, run.end
    ) is not None


def _of_one(run: Run, text: str, before: Before, *, is_given: bool, is_surname: bool) -> float:
    word = run.words[0]
    is_plain = word not in AMBIGUOUS if is_given else word not in AMBIGUOUS_SURNAMES
    followed = AFTER.match(text, run.end) is not None
    introduced = not run.is_first and before.ends_with(LIKELY_BEFORE)
    near = followed or introduced or (not run.is_first and _is_maybe(before))
    if is_given:
        return 0.7 if is_plain else 0.6 if near else 0.3
    if word in SURNAMES and is_plain:
        return 0.62 if near else 0.45
    if is_surname and (followed or introduced):
        return 0.55
    if len(word) > 2 and not word.isupper() and _is_persons(run, text):
        return 0.5
    return 0.2


def _is_persons(run: Run, text: str) -> bool:
    """Whether what stands around a word is said of people only."""
    return run.before.ends_with(PEOPLE_BEFORE) or DOES.match(text, run.end) is not None


def _is_maybe(before: Before) -> bool:
    return before.ends_with(MAYBE_BEFORE) or before.last.endswith((",", ":", "-", "–", "—"))


def _is_name_like(word: str) -> bool:
    """Letters, with hyphens and apostrophes; in capitals only when it is an initial."""
    if word.isalpha():
        return len(word) <= 2 or not word[1:].isupper()
    bare = word.rstrip(".").replace("-", "").replace("'", "").replace("’", "")
    return bare.isalpha() and (len(bare) <= 2 or not bare[1:].isupper())
