"""Reads the rows whose prompts and answers ran on replicas apart, where the counts of both kinds are given."""

import csv
import lzma
from collections import Counter
from pathlib import Path

from msgspec import Struct

from benchmarks.physics.silicon.models import MODELS
from benchmarks.physics.silicon.rows import FILE, PRECISIONS, kv_precision
from heterodyne.physics.catalogue import accelerator
from heterodyne.physics.parallelism import Parallelism
from heterodyne.physics.placement import Placement, place
from heterodyne.physics.precision import Precision
from heterodyne.physics.serving import Load
from heterodyne.physics.terms import Terms, decode_terms
from heterodyne.physics.work import work


class SplitPoint(Struct, frozen=True, kw_only=True):
    """One measured load on a pool for prompts and a pool for answers."""

    system: str
    engine: str
    model: str
    precision: Precision
    has_experts: bool
    load: Load  # of all replicas together
    prefill: Placement
    prefill_replicas: int
    decode: Placement
    decode_replicas: int
    tpot_s: float
    ttft_s: float

    @property
    def group(self) -> tuple[str, str, str]:
        """Hardware, engine, precision."""
        return (self.system, self.engine, self.precision.value)

    @property
    def setup(self) -> tuple[object, ...]:
        """What near-duplicates share: the decode side and its load."""
        spread, load = self.decode.parallelism, self.load
        shape = (load.prompt_tokens, load.output_tokens, load.concurrency)
        return (*self.group, self.model, *shape, spread.tp, spread.dp, spread.ep, self.decode_replicas)

    @property
    def running(self) -> float:
        """Sequences inside one decode replica: of a request's measured time, the share after its first token."""
        answer_s = self.tpot_s * self.load.output_tokens
        return self.load.concurrency * answer_s / (self.ttft_s + answer_s) / self.decode_replicas

    @property
    def terms(self) -> Terms:
        """One step of a decode replica as it was filled."""
        return decode_terms(self.decode, self.running, self.load.context)


def read_split(folder: Path) -> tuple[list[SplitPoint], Counter[str]]:
    """The points, and how many rows were left out, by reason."""
    with lzma.open(folder / FILE, "rt", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["mode"] == "disagg"]
    counted = [row for row in rows if row["decode_num_workers"]]
    known = {_measurement(row) for row in counted}
    notes: Counter[str] = Counter()
    for row in rows:
        if row["decode_num_workers"]:
            continue
        again = _measurement(row) in known
        notes["left out: the same measurement again" if again else "left out: no number of replicas"] += 1
    return [_point(row) for row in counted], notes


def _measurement(row: dict[str, str]) -> tuple[float, float]:
    return (round(float(row["silicon_tpot_ms"]), 3), round(float(row["silicon_ttft_ms"]), 1))


def _point(row: dict[str, str]) -> SplitPoint:
    spec, chip = MODELS[row["model_path"]], accelerator(row["system"])
    precision = PRECISIONS[row["gemm_quant_mode"]]
    demands = work(spec, precision=precision, kv_precision=kv_precision(precision))
    prefill, decode = (
        place(demands, accelerator=chip, parallelism=_parallelism(row, pool)) for pool in ("prefill", "decode")
    )
    replicas = int(row["decode_num_workers"])
    # The batch is counted per replica and per copy of attention; together they are the concurrency asked for.
    load = Load(
        is_burst=True,
        concurrency=float(row["decode_batch_size"]) * replicas * decode.parallelism.dp,
        prompt_tokens=float(row["isl"]),
        output_tokens=float(row["osl"]),
    )
    return SplitPoint(
        system=row["system"],
        engine=row["backend"],
        model=spec.name,
        precision=precision,
        has_experts=spec.experts is not None,
        load=load,
        prefill=prefill,
        prefill_replicas=int(row["prefill_num_workers"]),
        decode=decode,
        decode_replicas=replicas,
        tpot_s=float(row["silicon_tpot_ms"]) / 1e3,
        ttft_s=float(row["silicon_ttft_ms"]) / 1e3,
    )


def _parallelism(row: dict[str, str], pool: str) -> Parallelism:
    tp, dp, ep = (max(int(row[f"{pool}_{name}"] or 1), 1) for name in ("tp_size", "attention_dp_size", "moe_ep_size"))
    return Parallelism(tp=tp, dp=dp, ep=ep)
