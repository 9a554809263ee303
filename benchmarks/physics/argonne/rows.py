"""Reads the Argonne rows into points, leaving out what cannot have been what its label says."""

import csv
import lzma
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from benchmarks.physics.argonne.chips import HARDWARE
from benchmarks.physics.argonne.models import MODELS
from benchmarks.physics.argonne.static_batch import batch_terms, narrow_prompt_terms
from benchmarks.physics.silicon.rows import capacity_tokens
from heterodyne.physics.hardware import Accelerator
from heterodyne.physics.model_spec import ModelSpec
from heterodyne.physics.parallelism import Parallelism
from heterodyne.physics.placement import Placement, place
from heterodyne.physics.precision import Precision
from heterodyne.physics.profile import ProfileKey
from heterodyne.physics.serving import Load
from heterodyne.physics.terms import Terms
from heterodyne.physics.work import work

FILE = "argonne_llm_inference_bench_all.csv.xz"
# The file names no precision and no version; the benchmark ran what the models are published in, in 2024.
PRECISION = Precision.BF16
ENGINE_VERSION = "2024"
LLAMACPP = "llamacpp"
ENGINES = {"vLLM": "vllm", "TensorRT-LLM": "tensorrt-llm", "llama.cpp": LLAMACPP, "Deepspeed": "deepspeed",
           "Deepspeed-MII": "deepspeed", "sambaflow": "sambaflow"}  # fmt: skip


class BatchPoint(Struct, frozen=True, kw_only=True):
    """One static batch, timed from its first prompt to its last token."""

    system: str
    chip: Accelerator
    engine: str
    engine_version: str = ENGINE_VERSION
    spec: ModelSpec
    precision: Precision = PRECISION
    placement: Placement
    load: Load
    chunk_tokens: int | None  # None: the engine's own; else one sequence, its prompt read so
    terms: Terms
    tpot_s: float  # the whole time by output tokens, prompts included

    @property
    def parallelism(self) -> Parallelism:
        """How it is spread over chips."""
        return self.placement.parallelism

    @property
    def model(self) -> str:
        """The model's short name."""
        return self.spec.name

    @property
    def has_experts(self) -> bool:
        """Whether it is a mixture."""
        return self.spec.experts is not None

    @property
    def profile_key(self) -> ProfileKey:
        """What a profile for it is looked up by."""
        return ProfileKey(
            engine=self.engine,
            architecture=self.chip.architecture,
            chip=self.chip.name,
            precision=self.precision,
            tp=self.parallelism.tp,
            has_experts=self.has_experts,
        )

    @property
    def group(self) -> tuple[str, str, str]:
        """Hardware, engine, precision."""
        return (self.system, self.engine, self.precision.value)

    @property
    def setup(self) -> tuple[object, ...]:
        """What repeated measurements share: they are fitted together or scored together."""
        load, spread = self.load, self.parallelism
        return (*self.group, self.model, load.prompt_tokens, load.concurrency, self.chunk_tokens, spread.chips)


def read_batches(folder: Path) -> tuple[list[BatchPoint], Counter[str]]:
    """The points, and how many rows were read otherwise than labelled or left out, by reason."""
    notes: Counter[str] = Counter()
    return list(_points(folder, notes)), notes


def placed(spec: ModelSpec, chip: Accelerator, *, engine: str, chips: int) -> Placement:
    """llama.cpp deals layers out; the others cut every matrix."""
    parallelism = Parallelism(pp=chips) if engine == LLAMACPP else Parallelism(tp=chips)
    demands = work(spec, precision=PRECISION, kv_precision=PRECISION)
    return place(demands, accelerator=chip, parallelism=parallelism)


def _points(folder: Path, notes: Counter[str]) -> Iterator[BatchPoint]:
    with lzma.open(folder / FILE, "rt", newline="") as stream:
        for row in csv.DictReader(stream):
            spec, length = MODELS[row["Model"]], float(row["Input Output Length"])
            if 2 * length > spec.context_tokens:
                notes["left out: prompt and answer are longer than the model's context"] += 1
                continue
            point, floor_s = _point(row, spec, length, notes)
            if point.tpot_s < floor_s:
                notes["left out: faster than the memory can be read, so the answer was cut short"] += 1
                continue
            yield point


def _point(row: dict[str, str], spec: ModelSpec, length: float, notes: Counter[str]) -> tuple[BatchPoint, float]:
    hardware, engine = HARDWARE[row["Hardware"]], ENGINES[row["Framework"]]
    chips, batch = int(row["Num of Hardware"]), int(row["Batch Size"])
    placement = placed(spec, hardware.chip, engine=engine, chips=chips)
    if engine == LLAMACPP:
        notes["read otherwise: llama.cpp's batch is the chunk of one prompt"] += 1
        load = Load(concurrency=1.0, prompt_tokens=length, output_tokens=length)
        terms = narrow_prompt_terms(placement, load, chunk_tokens=batch)
    else:
        load = Load(concurrency=float(batch), prompt_tokens=length, output_tokens=length)
        capacity = capacity_tokens(placement, hardware.chip, load.context)
        terms = batch_terms(placement, load, kv_capacity_tokens=capacity)
    point = BatchPoint(
        system=hardware.label,
        chip=hardware.chip,
        engine=engine,
        spec=spec,
        placement=placement,
        load=load,
        chunk_tokens=batch if engine == LLAMACPP else None,
        terms=terms,
        tpot_s=float(row["Latency"]) / length,
    )
    return point, _floor_s(placement, load)


def _floor_s(placement: Placement, load: Load) -> float:
    """A token reads the dense weights and every KV entry before it: no engine beats the datasheet's bandwidth.

    Experts are not asked for: which of them a batch needs depends on its text.
    """
    return placement.dense_read_s + load.concurrency * placement.work.kv_bytes(load.context) * placement.kv_s_per_byte
