"""Points rebuilt from published efficiencies, for engines whose dense rows are not in the sample; never scored.

The figures are `measured_efficiency` of shared/research/hardware.yaml: medians over the whole silicon sample. Those of
SGLang on H100 are not among them: they count the KV of requests that did not fit beside the weights, and answers whose
length is not said. It has rows of its own on H200.
"""

from msgspec import Struct

from heterodyne.physics.catalogue import accelerator
from heterodyne.physics.engine_kind import EngineKind
from heterodyne.physics.model_shapes import model_spec
from heterodyne.physics.parallelism import Parallelism
from heterodyne.physics.parameters import parameters
from heterodyne.physics.placement import place
from heterodyne.physics.precision import Precision
from heterodyne.physics.profile import FirstToken
from heterodyne.physics.serving import Load, serving_terms
from heterodyne.physics.terms import Terms, prefill_terms
from heterodyne.physics.work import work

SOURCE = "fitted to median decode MBU and prefill MFU of the silicon sample (shared/research/hardware.yaml)"
PREFILL_TOKENS = 8192
# The decode medians are over answers and prompts of 1K and 8K: the middle one.
PROMPT_TOKENS, OUTPUT_TOKENS = 1024, 8192


class Published(Struct, frozen=True, kw_only=True):
    """Shares of the datasheet's rates that one engine reached, by TP."""

    chip: str
    engine: EngineKind
    precision: Precision
    model: str
    concurrency: int
    decode_mbu: dict[int, float]
    prefill_mfu: dict[int, float] = {}


PUBLISHED = (
    Published(chip="h200-sxm", engine=EngineKind.VLLM, precision=Precision.FP8, model="llama-3.1-70b", concurrency=4,
              decode_mbu={1: 0.70, 2: 0.54, 4: 0.38, 8: 0.24}, prefill_mfu={1: 0.47, 2: 0.43, 4: 0.34, 8: 0.26}),
    Published(chip="h100-sxm", engine=EngineKind.VLLM, precision=Precision.FP8, model="llama-3.1-70b", concurrency=4,
              decode_mbu={2: 0.62, 4: 0.46, 8: 0.30}, prefill_mfu={2: 0.43, 4: 0.35, 8: 0.26}),
    Published(chip="b200", engine=EngineKind.VLLM, precision=Precision.FP8, model="llama-3.1-70b", concurrency=4,
              decode_mbu={1: 0.58, 2: 0.45, 4: 0.30, 8: 0.19}, prefill_mfu={1: 0.37, 2: 0.30, 4: 0.21, 8: 0.13}),
    Published(chip="b200", engine=EngineKind.VLLM, precision=Precision.FP4, model="llama-3.1-70b", concurrency=4,
              decode_mbu={1: 0.44, 2: 0.32, 4: 0.20, 8: 0.11}),
    Published(chip="h100-sxm", engine=EngineKind.VLLM, precision=Precision.BF16, model="qwen3-32b", concurrency=8,
              decode_mbu={2: 0.58, 4: 0.45, 8: 0.30}),
)  # fmt: skip


def published_points(published: Published) -> list[tuple[Terms, float]]:
    """Terms and seconds of each decode step and each prompt."""
    chip, spec = accelerator(published.chip), model_spec(published.model)
    # The medians were taken with KV in BF16.
    demands = work(spec, precision=published.precision, kv_precision=Precision.BF16)
    load = Load(concurrency=published.concurrency, prompt_tokens=PROMPT_TOKENS, output_tokens=OUTPUT_TOKENS)
    moved = demands.weight_bytes() + load.concurrency * demands.kv_bytes(load.context)
    count = parameters(spec).total
    operations = 2 * count * PREFILL_TOKENS + 2 * spec.layers * spec.hidden * PREFILL_TOKENS**2
    points = []
    for tp, share in published.decode_mbu.items():
        placement = place(demands, accelerator=chip, parallelism=Parallelism(tp=tp))
        terms = serving_terms(placement, load, running=load.concurrency)
        points.append((terms, moved / (tp * chip.memory_bytes_per_s * share)))
    for tp, share in published.prefill_mfu.items():
        placement = place(demands, accelerator=chip, parallelism=Parallelism(tp=tp))
        ttft_s = operations / (tp * chip.flops[published.precision] * share)
        # A first token waits a little besides its own prompt; the prior says how much.
        points.append((prefill_terms(placement, PREFILL_TOKENS), ttft_s / FirstToken().prompt))
    return points
