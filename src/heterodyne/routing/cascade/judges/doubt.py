"""What judges look at, and what they say."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

UNUSABLE: Final = 1.0  # said of an answer that nobody could use, and of no other: it is never kept
DOUBTED_MAX: Final = 0.99  # the most that any other doubt comes to


class WrittenCall(Struct, frozen=True, kw_only=True):
    """A tool call as a model wrote it."""

    name: str
    arguments: str


class JudgedAnswer(Struct, frozen=True, kw_only=True):
    """A cheap model's answer, and what came with it."""

    text: str
    question: str = ""  # what its user said last
    finish_reason: str | None = None
    calls: tuple[WrittenCall, ...] = ()
    logprobs: tuple[float, ...] = ()  # of each token of the answer
    alternatives: tuple[tuple[float, ...], ...] = ()  # log-probabilities of the likeliest tokens at each place
    samples: tuple[str, ...] = ()  # further answers to the same prompt, of this model or of others as cheap
    verdict: str | None = None  # what a verifier model said of it


class AnswerForm(Struct, frozen=True, kw_only=True):
    """What an answer has to look like, as far as its request says so."""

    is_json: bool = False
    schema: Mapping[str, object] | None = None  # a JSON schema
    tools: Mapping[str, tuple[str, ...]] | None = None  # name to required members; None: calls are not checked
    language: str | None = None  # of code that must parse; "python" is the only one that is parsed
    final_mark: str | None = None  # what stands before the result, such as "####"


class Doubt(Struct, frozen=True, kw_only=True):
    """How much an answer is to be doubted, from 0 to 1, and the judge's reason in a word."""

    risk: float
    reason: str


FREE_FORM: Final = AnswerForm()
