"""Artifacts of a version, judged by the canonical one."""

import asyncio
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct, structs

from heterodyne.domain.artifact import ModelVersion, StoredArtifact
from heterodyne.domain.errors import SettingsInvalid, UnknownName
from heterodyne.domain.parity import ParityMeasures, ParityVerdict
from heterodyne.parity.compare import Pair, compare
from heterodyne.parity.limits import breaches_of, limits_of
from heterodyne.parity.scored_token import ScoredToken
from heterodyne.registry.building.builder import OnStep
from heterodyne.registry.catalog.catalog import OTHER_MODELS, Catalog
from heterodyne.registry.catalog.resolve import served_path
from heterodyne.registry.conversion.decoders import open_safetensors
from heterodyne.registry.parity.reference_scorer import reference_scorer
from heterodyne.registry.parity.running import running
from heterodyne.registry.parity.scorer import Scorer, Writer
from heterodyne.registry.parity.tokenizer_check import tokenizer_difference, tokenizer_of
from heterodyne.registry.reference.texts import TEXTS
from heterodyne.registry.tokenizers.text_tokens import tokens_of_texts

TEXT_TOKENS = 48  # of each text
CONTINUED_TEXTS = 4
PROMPT_TOKENS = 24  # of a text that is continued
CONTINUED_TOKENS = 24


class Bench(Struct):
    """What artifacts of one version are judged by: the canonical one's folder, its answers, and the texts."""

    folder: Path
    vocabulary: int
    scorer: Scorer
    texts: list[list[int]]
    said: dict[tuple[int, ...], list[ScoredToken | None]] = {}

    def scored(self, tokens: Sequence[int]) -> list[ScoredToken | None]:
        """Of the reference; each text is computed once."""
        key = tuple(tokens)
        if key not in self.said:
            self.said[key] = self.scorer.scored(tokens)
        return self.said[key]


async def judge_version(
    catalog: Catalog,
    version: ModelVersion,
    artifacts: Sequence[StoredArtifact],
    *,
    texts: Sequence[str] = TEXTS,
    on_step: OnStep = lambda done, of: None,
    clock: Callable[[], float] = time.time,
) -> list[StoredArtifact]:
    """The artifacts with their verdicts, which are kept. The canonical one is not judged: others are, by it."""
    canonical = await catalog.canonical(version)
    judged = [
        one
        for one in artifacts
        if one.artifact.digest != canonical.artifact.digest and one.artifact.recipe.builder not in OTHER_MODELS
    ]
    if not judged:
        raise UnknownName(
            f"{version.name} has nothing to judge beside {canonical.artifact.name}; build something first"
        )
    bench = await asyncio.to_thread(bench_for, await catalog.local(canonical), texts)
    found = []
    for number, stored in enumerate(judged):
        folder, began_s = await catalog.local(stored), clock()
        verdict = await asyncio.to_thread(judge, bench, stored, folder)
        verdict = structs.replace(
            verdict, reference=canonical.artifact.digest, at=clock(), took_s=round(clock() - began_s, 1)
        )
        await catalog.store.judge(stored.artifact.digest, verdict)
        found.append(structs.replace(stored, verdicts=(verdict,)))
        on_step(number + 1, len(judged))
    return found


def bench_for(folder: Path, texts: Sequence[str] = TEXTS) -> Bench:
    """Of the canonical artifact in `folder`."""
    vocabulary = open_safetensors(folder).shape.vocabulary
    tokens = tokens_of_texts(folder, vocabulary, texts, TEXT_TOKENS)
    if not tokens:
        raise SettingsInvalid("the texts to judge on have no two tokens")
    return Bench(folder, vocabulary, reference_scorer(folder), tokens)


def judge(bench: Bench, stored: StoredArtifact, folder: Path) -> ParityVerdict:
    """One artifact, without what is known of it elsewhere. Blocking, for as long as it takes to run it."""
    reference = tokenizer_of(bench.folder, bench.vocabulary)
    difference = tokenizer_difference(reference, tokenizer_of(served_path(folder, stored), bench.vocabulary))
    if difference is not None:
        return ParityVerdict(reference="", run_by="tokenizer", at=0.0, breaches=(difference,))
    with running(stored, folder) as scorer:
        measured = measure(bench, scorer, stored.artifact.precision)
    breaches = breaches_of(measured, limits_of(stored.artifact.precision, scorer.name))
    return ParityVerdict(reference="", run_by=scorer.name, at=0.0, measures=measured, breaches=breaches)


def measure(bench: Bench, scorer: Scorer, precision: str) -> ParityMeasures:
    """What a way to run the model says of the texts, beside what the reference says."""
    pairs = [pair for tokens in bench.texts for pair in _pairs(bench.scored(tokens), scorer.scored(tokens))]
    continuations = []
    if isinstance(scorer, Writer):
        for tokens in bench.texts[:CONTINUED_TEXTS]:
            prompt = tokens[:PROMPT_TOKENS]
            written = scorer.continued(prompt, CONTINUED_TOKENS)
            whole = [*prompt, *(int(step.token) for step in written)]
            continuations.append(_pairs(bench.scored(whole)[len(prompt) - 1 :], written))
    return compare(pairs, tie_nats=limits_of(precision, scorer.name).tie_nats, continuations=continuations)


def _pairs(reference: Sequence[ScoredToken | None], candidate: Sequence[ScoredToken | None]) -> list[Pair]:
    both = zip(reference, candidate, strict=True)
    return [(one, other) for one, other in both if one is not None and other is not None]
