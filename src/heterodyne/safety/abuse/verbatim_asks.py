"""Prompts that want words that are not the caller's: the system prompt, or what a model was trained on, verbatim.

One of them is curiosity; a series is an attempt. So these only count.
"""

import re
from typing import Final

from heterodyne.safety.injection.heuristics import SYSTEM_PROMPT, find

_STEMS: Final = ("verbatim", "word for word", "word-for-word", "letter by letter", "train", "memori", "corpus")
_VERBATIM: Final = re.compile(r"verbatim|word[ -]for[ -]word|letter by letter|exact (?:text|wording|words|copy)")
_SOURCES: Final = re.compile(
    r"(?:pre-?)?training (?:data|set|corpus|examples?)|trained on|memori[sz]ed|\b(?:your|the) corpus"
)
_ASKS: Final = re.compile(r"\b(?:print|show|reveal|output|repeat|recite|reproduce|give me|list|write out|dump)\b")
_WORKS: Final = re.compile(
    r"\b(?:continue|complete|recite|reproduce|output|write out)\b.{0,80}"
    r"\b(?:passage|paragraph|chapter|article|book|poem|lyrics|source code)",
    re.S,
)
_FOREVER: Final = re.compile(
    r"\brepeat\b.{0,60}\b(?:forever|endlessly|infinitely|(?:\d{3,}|a thousand|a million) times)", re.S
)
_PROMPTS: Final = ("prompt", "instruc", "guideline", "above", "directive")


def asks_verbatim(text: str) -> bool:
    """Whether a prompt asks for such words. Most have none of the stems, and no expression runs on them."""
    lowered = text.lower()
    if "repeat" in lowered and _FOREVER.search(lowered):
        return True
    if any(stem in lowered for stem in _STEMS):
        is_of_source = _SOURCES.search(lowered) is not None
        if is_of_source and _ASKS.search(lowered):
            return True
        if _VERBATIM.search(lowered) and (is_of_source or _WORKS.search(lowered)):
            return True
    return any(stem in lowered for stem in _PROMPTS) and any(one.rule == SYSTEM_PROMPT for one in find(text))
