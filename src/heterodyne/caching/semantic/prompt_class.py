"""The class of a prompt: prompts of one class are wrong alike at one similarity, and are calibrated together."""

from typing import Final

from heterodyne.caching.semantic.reading import PromptReading

CODE: Final = "code"
STATEMENT: Final = "statement"
LONG: Final = "long"
LONG_WORDS: Final = 60


def prompt_class(prompt: PromptReading) -> str:
    """What kind of text this is: code, something long, or what its question asks for."""
    if prompt.code:
        return CODE
    if len(prompt.words) > LONG_WORDS:
        return LONG
    return prompt.kind or STATEMENT
