"""The section on static batches, the only measured rows of other makers' silicon."""

from collections.abc import Iterable

from benchmarks.physics.accuracy import CALIBRATION_POINTS
from benchmarks.physics.argonne.first_tokens import FirstTokens
from benchmarks.physics.argonne.report import BatchGroup, BatchReport
from benchmarks.physics.tables import cells, counts, filtered, percent, table

NVIDIA = "nvidia"


def batch_section(report: BatchReport, firsts: Iterable[FirstTokens]) -> str:
    """Makers, groups, traps and what is shipped."""
    dense = sorted((group for group in report.groups if not group.has_experts), key=_makers_order)
    mixture = sorted((group for group in report.groups if group.has_experts), key=_makers_order)
    parts = (
        "## Other makers' silicon: static batches of 2024\n",
        INTRODUCTION,
        _vendors(report),
        "### Dense models, static batches\n",
        _groups(dense),
        "### Mixture models, static batches\n",
        _groups(mixture),
        "### First tokens of these batches\n",
        FIRST_TOKENS,
        _firsts(firsts),
        "### What these rows are\n",
        TRAPS,
        counts(report.rows),
        "### What is shipped of it\n",
        SHIPPED,
    )
    return "\n".join(parts)


def vendor_lines(report: BatchReport) -> list[tuple[str, ...]]:
    """Dense models by maker, for the summary beside the headline."""
    return [
        (f"static batches of 2024, dense, {line.vendor}, {line.groups} group{'s' if line.groups > 1 else ''}",
         str(line.points), percent(line.before), percent(line.cross_validated), percent(line.cross_validated_worst))
        for line in report.vendors if not line.has_experts
    ]  # fmt: skip


INTRODUCTION = """\
`argonne_llm_inference_bench_all.csv.xz` (argonne-lcf/LLM-Inference-Bench, BSD-3-Clause) times whole batches offline:
`Batch Size` prompts of `Input Output Length` tokens begin together and each is answered with as many. We compare the
column `Latency`, the seconds until the last token; `Throughput` is that number again, both kinds of tokens divided
by it. The model's answer is the prompts, in chunks of 8192 tokens, and one decode step per output token at the mean
context; what the KV memory does not hold takes its steps later. Prices, folds and ridges are those of the
headline. None of these rows is in it.

*Before* are the prices the package had without these rows, and what those rest on; *bias* is the middle signed error,
below zero where the batch took longer than predicted. *Model unseen* leaves out one model at a time within the group,
*chip unseen* every row of the chip: prices are then those of all other chips here under the engine.
"""

FIRST_TOKENS = """\
The same source times 16 prompts of 1024 tokens answered with one token each. Here the prices of a group, fitted to its
whole batches but those of this shape, are asked for that time. On MI250 they give it, under TensorRT-LLM they are up
to half too long, under vLLM on NVIDIA two to three times too long. Prompt and answer are equally long in every batch,
so a fit can hardly tell the work of a prompt from a cost of each running sequence in each step (scheduling, sampling)
and puts it on the prompts. Totals come out right, their parts do not: one more reason why no vLLM profile is made of
these rows.
"""

TRAPS = """\
- **llama.cpp's batch is no batch.** Its throughput is computed for one sequence whatever the batch says, and a batch
  of 1 costs nearly twice one of 16: `Batch Size` went to `llama-bench -b`, the tokens of one prompt read at a time.
  The rows are read so: one sequence, its prompt in chunks, layers dealt out over the chips one after another.
- **Cut answers.** Where prompt and answer exceed the model's context only a token or so was made; those rows are left
  out by their labels. Others (Qwen2 under TensorRT-LLM on H100) are faster than reading the weights and the KV once
  per token at the datasheet's bandwidth: left out by that bound, whatever our error on them.
- **Hardware is named loosely.** *A100* is the 40 GB part (70B on four waits for memory from batches of 16 on). *MI250*
  counts modules of two dies. *Intel PVC* and *Intel Max 1550* are one product under two labels that contradict each
  other: the same batch takes 19 s under one and 2 s under the other, with some 17 s that do not depend on length,
  and two or four of the former are five times slower than one under llama.cpp. No price explains that; the rows are
  scored apart and kept.
- **Neither version nor precision is given.** The repository is of 2024; 16-bit weights and KV are assumed. No row
  beats the bandwidth that this asks for, except the cut ones.
- **Attention of the time.** vLLM then changed its attention kernel where sequences x heads per chip exceed 512. On
  AMD the second kernel's time follows query heads, not KV heads: Llama 3 8B, with a quarter of the KV, is slower
  there than Llama 2 7B. Half of the MI300X rows are beyond that line, and our error on them is twice that on the
  rest. Mistral 7B on H100 shows the same step. The step model has no such term.
- **First runs.** The shortest batch-1 rows of MI300X take longer than those of twice the length: warm-up was timed.
- **Copies of one prompt.** Mixtral under TensorRT-LLM is, in half of the A100 rows, faster than reading every expert
  allows: the sequences of a batch probably are copies and meet the same experts. The model assumes mixed text.
- **DeepSpeed** on Gaudi and DeepSpeed-MII on A100 count as one engine, though they share little more than the name.
- **70B on four A100 of 40 GB** leaves about a gigabyte a chip for KV; our estimate of it, made for later
  engines, decides those rows.
- **Choices made while looking at these scores:** how the labels are read, as above. No term, ridge or fold was changed.
"""

SHIPPED = """\
- **vLLM and TensorRT-LLM: nothing.** On H100, which has prices of newer engines, the rows of 2024 take about a fifth
  longer than those say. On A100, which has none, they take as much longer than the prices carried over from other
  chips say; GH200 no more than that. So what is missing there is the age of the rows (or their manner: offline
  batches), not the chip, and a profile made of them would be a fifth too slow for an engine of today. Since a
  chip's own profile outranks its family's whatever its version, it would replace the better answer. On MI300X and
  MI250 the difference is three times as large, and these rows cannot say how much of it is left: such plans rest on
  *family*, which here means NVIDIA's prices on AMD's datasheet. Expect the truth to be slower, and calibrate.
- **llama.cpp, dense: the chips and their architectures.** No newer rows of it are at hand, so these profiles replace
  the bare datasheet alone, which is 36 % to 81 % off on the same rows. They carry the version 2024, so any other
  profile as near wins over them. So llama.cpp rests on *chip* for A100 of 40 GB, H100 SXM, GH200, MI250 and MI300X and
  on *family* for the rest of Ampere, Hopper and CDNA 3, where both were *datasheet*. There is none for the engine at
  large: nothing here speaks for chips with slow memory (Apple, CPUs, L4), which may come closer to their bandwidth.
  Prices of long prompts are still the datasheet's: the rows read at most 64 tokens at a time; and weights of four
  bits, which llama.cpp mostly serves, were not measured at all.
- **Mixtures, Gaudi, Max 1550, SN40L: nothing.** One mixture was measured, and DeepSpeed and SambaFlow are no engines
  of ours. With DeepSpeed on Gaudi 2 the model's form holds (see the table); what vLLM reaches there is not known.
"""


def _vendors(report: BatchReport) -> str:
    lines = sorted(report.vendors, key=lambda line: (line.has_experts, line.vendor == NVIDIA, line.vendor))
    return table(
        ("Maker", "Models", "Groups", "n", "before, median of groups", "cross-validated", "worst group", "chip unseen",
         f"then {CALIBRATION_POINTS} points"),
        (
            (line.vendor, "mixture" if line.has_experts else "dense", str(line.groups), str(line.points),
             percent(line.before), percent(line.cross_validated), percent(line.cross_validated_worst),
             percent(line.chip_unseen), percent(line.calibrated))
            for line in lines
        ),
    )  # fmt: skip


def _groups(groups: Iterable[BatchGroup]) -> str:
    return table(
        ("Maker", "Hardware", "Engine", "Precision", "Models", "n", "rests on", "before (bias)", "cross-validated",
         "median", "p90", "without 3σ (n)", "model unseen", "chip unseen", f"after {CALIBRATION_POINTS}"),
        (
            (group.vendor, group.system, group.engine, group.precision, str(len(group.models)), str(group.points),
             group.rests_on, f"{percent(group.before.mean)} ({group.before_bias:+.0f} %)", *cells(group.tpot),
             filtered(group.tpot_filtered, group.points), cells(group.model_unseen)[0],
             percent(group.chip_unseen.mean) + ("" if group.is_engine_seen else " (datasheet)"),
             cells(group.calibrated)[0])
            for group in groups
        ),
    )  # fmt: skip


def _firsts(firsts: Iterable[FirstTokens]) -> str:
    return table(
        ("Maker", "Hardware", "Engine", "n", "first token, mean", "bias"),
        (
            (one.vendor, one.system, one.engine, str(one.ttft.points), percent(one.ttft.mean), f"{one.bias:+.0f} %")
            for one in sorted(firsts, key=lambda one: (one.vendor == NVIDIA, one.vendor, one.system, one.engine))
        ),
    )


def _makers_order(group: BatchGroup) -> tuple[object, ...]:
    return (group.vendor == NVIDIA, group.vendor, group.system, group.engine)
