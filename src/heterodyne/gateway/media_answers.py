"""What is answered about sounds, pictures and the order of texts, as the API description tells it."""

from typing import Any

from msgspec import Struct


class RankedText(Struct):
    """How well one of the texts answers the question."""

    index: int
    relevance_score: float
    document: Any = None


class RankedTexts(Struct):
    """Best first."""

    results: list[RankedText]
    id: str | None = None
    model: str | None = None
    usage: dict[str, Any] | None = None


class ScoredPair(Struct):
    """How alike two texts are."""

    index: int
    score: float


class ScoredPairs(Struct):
    """In the order that they were sent in."""

    data: list[ScoredPair]
    model: str | None = None
    usage: dict[str, Any] | None = None


class ModeratedText(Struct):
    """What was found in one text."""

    flagged: bool
    categories: dict[str, Any]
    category_scores: dict[str, Any]


class ModeratedTexts(Struct):
    """In the order that they were sent in."""

    results: list[ModeratedText]
    id: str | None = None
    model: str | None = None


class TranscribedText(Struct):
    """What was said; more beside it where the form asked for it."""

    text: str
    usage: dict[str, Any] | None = None


class MadePicture(Struct):
    """One picture, or where it lies."""

    b64_json: str | None = None
    url: str | None = None
    revised_prompt: str | None = None


class MadePictures(Struct):
    """As many as were asked for."""

    created: int
    data: list[MadePicture] | None = None
    usage: dict[str, Any] | None = None


class MediaEvent(Struct):
    """One event of an answer about sounds or pictures."""

    type: str
