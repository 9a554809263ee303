"""Reads the measured serving rows into typed points, putting right or leaving out what their labels get wrong."""

import csv
import lzma
import re
from collections import Counter
from collections.abc import Iterator
from math import isqrt
from pathlib import Path

from msgspec import Struct

from benchmarks.physics.silicon.models import MODELS
from heterodyne.physics.catalogue import accelerator
from heterodyne.physics.hardware import Accelerator
from heterodyne.physics.model_spec import ModelSpec
from heterodyne.physics.parallelism import Parallelism
from heterodyne.physics.placement import Placement, place
from heterodyne.physics.precision import Precision
from heterodyne.physics.serving import Load, running_sequences, serving_terms
from heterodyne.physics.terms import Terms
from heterodyne.physics.work import work

FILE = "aiconfigurator_silicon_sample_a.csv.xz"
BOARD_CHIPS = 8
DEFAULTS_SWEEP = "aic-auto-gap-analysis"
# TensorRT-LLM of this version answers DeepSeek on H200 in half the time it takes on B200, which reads faster; one load
# is there twice, in 19 ms and in 32 ms; and some rows are within 6 % of the floor. The other version answers 448
# sequences on B200 in a third of the time of all others.
GUESSING_AHEAD = {("trtllm", "1.1.0rc2.post2", "h200_sxm"), ("trtllm", "1.3.0rc5", "b200_sxm"),
                  ("trtllm", "1.3.0rc5", "gb200")}  # fmt: skip
# vLLM and its peers give the KV what a 0.9 share of memory leaves beside the weights and about 3 GB of their own.
MEMORY_SHARE, ENGINE_BYTES = 0.9, 3e9
PRECISIONS = {"": Precision.BF16, "nvfp4": Precision.FP4, "fp8": Precision.FP8, "fp8_block": Precision.FP8,
              "int4_wo": Precision.INT4}  # fmt: skip


class Point(Struct, frozen=True, kw_only=True):
    """One measured load on one replica."""

    system: str
    engine: str
    engine_version: str
    model: str
    precision: Precision
    has_experts: bool
    parallelism: Parallelism
    load: Load
    running: float
    capacity_tokens: float
    placement: Placement
    terms: Terms
    tpot_s: float
    ttft_s: float
    is_ttft_alone: bool = True  # False: more than a first token was timed

    @property
    def group(self) -> tuple[str, str, str]:
        """Hardware, engine, precision."""
        return (self.system, self.engine, self.precision.value)

    @property
    def setup(self) -> tuple[object, ...]:
        """What near-duplicates share: they are fitted together or scored together."""
        shape = (self.load.prompt_tokens, self.load.output_tokens, self.load.concurrency)
        widths = (self.parallelism.tp, self.parallelism.dp, self.parallelism.ep)
        return (*self.group, self.model, *shape, *widths)


def read_points(folder: Path) -> tuple[list[Point], Counter[str]]:
    """Points of aggregated serving, and how many rows were put right or left out, by reason."""
    notes: Counter[str] = Counter()
    points: dict[tuple[object, ...], Point] = {}
    for point in _points(folder, notes):
        # The same measurement was published in several dumps, some rounded to two places.
        identity = (*point.setup, round(point.tpot_s * 1e3, 1))
        if identity in points:
            notes["left out: the same measurement again"] += 1
        points.setdefault(identity, point)
    return list(points.values()), notes


def kv_precision(precision: Precision) -> Precision:
    """The engines keep KV in FP8 beside FP8 and FP4 weights, where those who ran them asked for it."""
    return Precision.FP8 if precision in (Precision.FP8, Precision.FP4) else Precision.BF16


def floor_s(placement: Placement, load: Load, running: float) -> float:
    """What no engine beats without guessing ahead: weights, experts touched and KV, read at the datasheet's rate."""
    experts = placement.expert_read_s * placement.work.touched_share(running)
    return placement.dense_read_s + experts + running * placement.work.kv_bytes(load.context) * placement.kv_s_per_byte


def capacity_tokens(placement: Placement, chip: Accelerator, context: float) -> float:
    """Tokens of sequences of this length that one replica's memory holds beside its weights."""
    demands, spread = placement.work, placement.parallelism
    weights = (demands.dense_bytes / spread.tp + demands.expert_bytes / spread.stage_chips) / spread.pp
    free = chip.memory_bytes * MEMORY_SHARE - ENGINE_BYTES - weights
    shards = min(spread.tp, demands.kv_shards_max) * spread.dp * spread.pp
    return max(free, 0.0) * shards * context / demands.kv_bytes(context)


def _points(folder: Path, notes: Counter[str]) -> Iterator[Point]:
    with lzma.open(folder / FILE, "rt", newline="") as stream:
        for row in csv.DictReader(stream):
            if row["mode"] != "agg":
                notes["left out here, scored in their own section: prefill and decode apart"] += 1
            elif row["model_path"] not in MODELS:
                notes["left out: no shape for the model"] += 1
            else:
                point = _point(row, notes)
                reason = _contradiction(point)
                if reason is None:
                    yield point
                else:
                    notes[reason] += 1


def _contradiction(point: Point) -> str | None:
    """Why a row cannot have been what its label says; whatever our own error on it is."""
    if (point.engine, point.engine_version, point.system) in GUESSING_AHEAD:
        return "left out: it guesses ahead (MTP), which no column says"
    if point.tpot_s < floor_s(point.placement, point.load, point.running):
        return "left out: faster than its weights and KV can be read"
    if point.running >= point.load.concurrency and point.ttft_s > point.load.output_tokens * point.tpot_s:
        return "left out: it waited longer than it answered though memory holds all, so its batch was smaller"
    return None


def _point(row: dict[str, str], notes: Counter[str]) -> Point:
    spec, chip = MODELS[row["model_path"]], accelerator(row["system"])
    precision = PRECISIONS[row["gemm_quant_mode"]]
    parallelism = _parallelism(row, spec, chip, notes)
    demands = work(spec, precision=precision, kv_precision=_kv_precision(row, precision))
    placement = place(demands, accelerator=chip, parallelism=parallelism)
    found = re.search(r"silicon_concurrency=(\d+)", row["silicon_data_source"])
    load = Load(
        is_burst=True,
        concurrency=float(found[1] if found else row["batch_size"]),
        prompt_tokens=float(row["isl"]),
        output_tokens=float(row["osl"]),
    )
    capacity = capacity_tokens(placement, chip, load.context)
    running = running_sequences(load, capacity)
    return Point(
        system=row["system"],
        engine=row["backend"],
        engine_version=row["backend_version"],
        model=spec.name,
        precision=precision,
        has_experts=spec.experts is not None,
        parallelism=parallelism,
        load=load,
        running=running,
        capacity_tokens=capacity,
        placement=placement,
        terms=serving_terms(placement, load, running=running),
        tpot_s=float(row["silicon_tpot_ms"]) / 1e3,
        ttft_s=float(row["silicon_ttft_ms"]) / 1e3,
    )


def _kv_precision(row: dict[str, str], precision: Precision) -> Precision:
    # One sweep left every engine at its defaults, where vLLM and SGLang keep KV in sixteen bits.
    if DEFAULTS_SWEEP in row["silicon_data_source"] and row["backend"] in ("vllm", "sglang"):
        return Precision.BF16
    return kv_precision(precision)


def _parallelism(row: dict[str, str], spec: ModelSpec, chip: Accelerator, notes: Counter[str]) -> Parallelism:
    tp, dp = int(row["tp_size"]), max(int(row["attention_dp_size"] or 1), 1)
    expert_tp, ep = (max(int(row[name] or 1), 1) for name in ("moe_tp_size", "moe_ep_size"))
    if tp * dp > chip.fast_domain_chips == BOARD_CHIPS:
        # One board cannot hold so many: tp was multiplied by ep (the same rows appear elsewhere as tp=4, ep=4).
        notes["put right: chips were counted as tp x ep"] += 1
        chips = isqrt(tp * dp)
        return Parallelism(tp=1, dp=chips, ep=chips) if tp == 1 else Parallelism(tp=chips, ep=chips)
    if spec.heads % tp:
        # Heads cannot be cut so: the wide setups of this dump copy attention and deal the experts out.
        notes["put right: a TP that does not divide the heads is read as DP attention with EP"] += 1
        return Parallelism(dp=tp, ep=tp)
    if not row["attention_dp_size"] and expert_tp * ep > tp:
        dp = expert_tp * ep // tp
    return Parallelism(tp=tp, dp=dp, ep=ep)
