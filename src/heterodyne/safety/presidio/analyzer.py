"""Presidio's analyzer with a model of spaCy, or with nothing but spaCy's division of a text into words."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import spacy
import tldextract
from presidio_analyzer import AnalyzerEngine, RecognizerRegistry
from presidio_analyzer.nlp_engine import NlpArtifacts, SpacyNlpEngine

from heterodyne.domain.errors import InvalidSpec
from heterodyne.safety.finding import Finding

PIECE_CHARS: Final = 100_000  # of a text that is looked at together; spaCy takes a million
OVERLAP_CHARS: Final = 1_000  # so that what is cut in two is whole in one of them

# Presidio looks up the ends of domains with it, which fetches a list of them over the network if nobody says otherwise.
tldextract.tldextract.TLD_EXTRACTOR = tldextract.TLDExtract(cache_dir=None, suffix_list_urls=())


class Analyzer:
    """One for a language and a model."""

    def __init__(self, language: str, model: str | None) -> None:
        self._language = language
        words: Any = SpacyNlpEngine if model is not None else WordsAlone
        engine = words(models=[{"lang_code": language, "model_name": model or ""}])
        engine.load()
        registry = RecognizerRegistry(supported_languages=[language])
        registry.load_predefined_recognizers(languages=[language], nlp_engine=engine)
        self._engine = AnalyzerEngine(registry=registry, nlp_engine=engine, supported_languages=[language])
        self._known = frozenset(self._engine.get_supported_entities(language=language))

    def find(self, text: str, kinds: Sequence[str], score_min: float) -> list[Finding]:
        """What it finds; raises InvalidSpec for an entity that it does not know."""
        for kind in kinds:
            if kind not in self._known:
                raise InvalidSpec(f'Presidio knows no entity "{kind}" here; known: {", ".join(sorted(self._known))}')
        found = {
            (start + one.start, start + one.end, one.entity_type): one.score
            for start, piece in _pieces(text)
            for one in self._engine.analyze(
                piece, language=self._language, entities=list(kinds) or None, score_threshold=score_min
            )
        }
        return sorted(
            Finding(start=start, end=end, rule=rule.lower(), score=min(float(score), 1.0))
            for (start, end, rule), score in found.items()
        )


class WordsAlone(SpacyNlpEngine):  # type: ignore[misc]  # an extra, absent where this is checked
    """Divides a text into words, which is what Presidio's patterns look for context in; finds no names."""

    def load(self) -> None:
        self.nlp = {model["lang_code"]: spacy.blank(model["lang_code"]) for model in self.models}

    def get_supported_entities(self) -> list[str]:
        return []

    def _doc_to_nlp_artifact(self, doc: Any, language: str) -> NlpArtifacts:
        words = [token.text.lower() for token in doc]
        places = [token.idx for token in doc]
        return NlpArtifacts(
            entities=[], tokens=doc, tokens_indices=places, lemmas=words, nlp_engine=self, language=language
        )


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    for start in range(0, max(len(text), 1), PIECE_CHARS):
        yield start, text[start : start + PIECE_CHARS + OVERLAP_CHARS]
