"""`make bench-parity`: every precision of a real model beside what it was built from, damaged builds, false alarms."""

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from random import Random

import msgspec
from msgspec import Struct

from benchmarks.parity.build_others import built_as
from benchmarks.parity.page import Alarms, Build, render
from benchmarks.parity.texts import public_texts
from heterodyne.domain.parity import ParityMeasures
from heterodyne.parity.compare import Pair, compare
from heterodyne.parity.limits import breaches_of, limits_of
from heterodyne.registry.building.builder import Builder
from heterodyne.registry.building.compressed_tensors_builder import COMPRESSED_TENSORS
from heterodyne.registry.building.orbax_builder import TO_ORBAX
from heterodyne.registry.conversion.gguf_safetensors import gguf_to_safetensors
from heterodyne.registry.conversion.safetensors_gguf import safetensors_to_gguf
from heterodyne.registry.defaults import DEFAULT_POOLS
from heterodyne.registry.gguf.precision import PRECISIONS
from heterodyne.registry.parity.judge import TEXT_TOKENS, Bench, bench_for, measure
from heterodyne.registry.parity.llamacpp_process import running_llamacpp
from heterodyne.registry.parity.llamacpp_scorer import LlamaCppScorer
from heterodyne.registry.parity.reference_scorer import jax_scorer, reference_scorer
from heterodyne.registry.parity.scorer import Scorer
from heterodyne.registry.parity.tokenizer_check import tokenizer_difference, tokenizer_of
from heterodyne.registry.parity.vllm_scorer import VllmScorer
from heterodyne.registry.reference.texts import TEXTS
from heterodyne.registry.settings import RegistrySettings
from heterodyne.registry.tokenizers.text_tokens import tokens_of_texts
from heterodyne.registry.weights import obtain
from tests.engines.running_vllm import MODEL, RunningVllm
from tests.support.damaged_builds import DAMAGES, damaged

PAGE = Path(__file__).resolve().parents[2] / "docs" / "parity.md"
RUNS = 200
POOL_OF_TEXTS = 160
SEED = 16
ALARM_PRECISIONS = ("q8_0",)


class Way(Struct, frozen=True, kw_only=True):
    """One more way to run the model."""

    precision: str
    builder: Builder | None = None  # None: the SafeTensors as they are
    running: Callable[[Path], AbstractContextManager[Scorer]]


class Found(Struct, kw_only=True):
    """Everything that was measured."""

    builds: list[Build] = []
    others: list[Build] = []  # SafeTensors and JAX, and who ran them
    damages: list[Build] = []
    alarms: list[Alarms] = []


def main() -> int:
    """Measure and write the page; what is measured is kept in a file as it comes."""
    options = _options()
    found = Found()
    with tempfile.TemporaryDirectory() as room:
        work = Path(room)
        folder = _source(work)
        bench = bench_for(folder)
        for precision in options.precisions:
            found.builds.append(_build(bench, folder, work, precision, precision))
            print(found.builds[-1], flush=True)
        for name, way in OTHERS.items():
            if name.startswith("vLLM") and not options.vllm:
                continue
            found.others.append(_other(bench, folder, work / "other", name, way))
            print(found.others[-1], flush=True)
        for name, damage in DAMAGES.items():
            other = damaged(folder, work / "damaged", damage)
            found.damages.append(_build(bench, other, work, "q8_0", name))
            print(found.damages[-1], flush=True)
            _remove(other)
        if options.data is not None:
            texts = tokens_of_texts(
                folder, bench.vocabulary, public_texts(options.data, POOL_OF_TEXTS, SEED), TEXT_TOKENS
            )
            for precision in ALARM_PRECISIONS:
                found.alarms.append(_alarms(bench, texts, _gguf(folder, work, precision), precision))
                print(found.alarms[-1], flush=True)
    if options.json is not None:
        options.json.write_bytes(msgspec.json.encode(found))
    PAGE.write_text(render(found.builds, found.others, found.damages, found.alarms))
    return 0


def _source(work: Path) -> Path:
    """The default chat model, in SafeTensors."""
    pool = DEFAULT_POOLS["chat"]
    assert pool.weights
    path = obtain(pool.weights, pool.weights_sha256, RegistrySettings(), lambda *_: None)
    gguf_to_safetensors(path, work / "source")
    return work / "source"


def _gguf(folder: Path, work: Path, precision: str) -> Path:
    path = work / f"{precision}.gguf"
    path.unlink(missing_ok=True)
    safetensors_to_gguf(folder, path, precision)
    return path


def _build(bench: Bench, folder: Path, work: Path, precision: str, name: str) -> Build:
    began_s = time.monotonic()
    path = _gguf(folder, work, precision)
    difference = tokenizer_difference(
        tokenizer_of(bench.folder, bench.vocabulary), tokenizer_of(path, bench.vocabulary)
    )
    size, measures = path.stat().st_size, None
    breaches: tuple[str, ...] = () if difference is None else (difference,)
    if difference is None:
        with running_llamacpp(path) as url, closing(LlamaCppScorer(url)) as scorer:
            measures = measure(bench, scorer, precision)
        breaches = breaches_of(measures, limits_of(precision))
    path.unlink()
    return Build(
        name=name, size_bytes=size, measures=measures, breaches=breaches, took_s=round(time.monotonic() - began_s, 1)
    )


def _other(bench: Bench, folder: Path, target: Path, name: str, way: Way) -> Build:
    began_s = time.monotonic()
    served = folder if way.builder is None else built_as(way.builder, way.precision, folder, target)
    with way.running(served) as scorer:
        measures = measure(bench, scorer, way.precision)
        breaches = breaches_of(measures, limits_of(way.precision, scorer.name))
    size = sum(path.stat().st_size for path in served.rglob("*") if path.is_file())
    shutil.rmtree(target, ignore_errors=True)
    return Build(
        name=name,
        size_bytes=size,
        measures=measures,
        breaches=breaches,
        took_s=round(time.monotonic() - began_s, 1),
    )


@contextmanager
def _in_vllm(folder: Path) -> Iterator[Scorer]:
    engine = RunningVllm(folder)
    try:
        engine.wait_ready()
        with closing(VllmScorer(engine.url, MODEL)) as scorer:
            yield scorer
    finally:
        engine.kill()


@contextmanager
def _in_reference(folder: Path) -> Iterator[Scorer]:
    yield reference_scorer(folder)


@contextmanager
def _in_jax(folder: Path) -> Iterator[Scorer]:
    yield jax_scorer(folder)


OTHERS = {
    "vLLM, SafeTensors fp16": Way(precision="fp16", running=_in_vllm),
    "reference, SafeTensors int8": Way(precision="int8", builder=COMPRESSED_TENSORS, running=_in_reference),
    "vLLM, SafeTensors int8": Way(precision="int8", builder=COMPRESSED_TENSORS, running=_in_vllm),
    "reference, SafeTensors fp8": Way(precision="fp8", builder=COMPRESSED_TENSORS, running=_in_reference),
    "JAX, Orbax bf16": Way(precision="bf16", builder=TO_ORBAX, running=_in_jax),
}


def _alarms(bench: Bench, texts: list[list[int]], path: Path, precision: str) -> Alarms:
    """The gate again and again, each time on other texts: as many as usually, drawn from those of public sets."""
    with running_llamacpp(path) as url, closing(LlamaCppScorer(url)) as scorer:
        pairs: list[list[Pair]] = []
        for tokens in texts:
            both = zip(bench.scored(tokens), scorer.scored(tokens), strict=True)
            pairs.append([(one, other) for one, other in both if one is not None and other is not None])
    random, limits, failed = Random(SEED), limits_of(precision), 0
    worst: ParityMeasures | None = None
    for _ in range(RUNS):
        drawn = [pair for chosen in random.sample(pairs, len(TEXTS)) for pair in chosen]
        measured = compare(drawn, tie_nats=limits.tie_nats)
        failed += bool(breaches_of(measured, limits))
        if worst is None or measured.kl_nats > worst.kl_nats:
            worst = measured
    assert worst is not None
    return Alarms(precision=precision, runs=RUNS, texts=len(texts), failed=failed, worst=worst)


def _remove(folder: Path) -> None:
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder of public evaluation sets; without it, no false alarms")
    parser.add_argument("--precisions", nargs="*", default=list(PRECISIONS))
    parser.add_argument("--vllm", action="store_true", help="with vLLM as `make test-engines` installs it")
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
