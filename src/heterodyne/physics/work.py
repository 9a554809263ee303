"""What a model asks of any chip: bytes to read and operations to do, counted from its shape at a precision."""

from msgspec import Struct

from heterodyne.physics.kv import kv_bytes_per_sequence, kv_bytes_per_token
from heterodyne.physics.model_spec import ModelSpec
from heterodyne.physics.parameters import parameters
from heterodyne.physics.precision import BYTES, Precision

ACTIVATION_BYTES = 2.0  # activations travel between chips as BF16
FOUR_BIT = (Precision.FP4, Precision.INT4)
HEAD_BYTES = 2.0  # engines leave the output head in BF16
# Kernels that a layer launches beside those of a plain one, as a share of them. A plain layer has about ten (norms,
# projections, rotation, attention, MLP). A latent one compresses and expands queries and keys besides; a linear one
# convolves, gates and updates its state; a mixture has eight, and four more where a shared expert runs beside it.
LATENT_LAUNCHES, LINEAR_LAUNCHES, SHARED_EXPERT_LAUNCHES = 0.5, 0.5, 0.5


class Work(Struct, frozen=True, kw_only=True):
    """One model's demands, whole model, before it is laid out on chips."""

    layers: int
    launches: float  # layers, each counted by the kernels it launches; a plain one is 1
    hidden: int
    dense_bytes: float  # weights that every step reads
    expert_bytes: float  # all routed experts of all layers together
    expert_layers: int
    expert_launches: float  # layers with a mixture, counted likewise
    expert_count: int
    expert_miss: float  # chance that one token leaves a given expert alone; 1.0 without experts
    expert_active: int
    dense_flops_per_token: float
    expert_flops_per_token: float
    head_flops_per_token: float  # a prefill pays it once, a decode step for every sequence
    attention_flops_per_pair: float  # one token looking at one earlier token, in the layers that see everything
    window_flops_per_pair: float  # the same in windowed layers
    kv_bytes_per_token: float  # in the layers that see the whole context
    window_bytes_per_token: float
    window_tokens: int
    kv_shards_max: int  # wider tensor parallelism only copies the KV
    decode_flops_per_kv_byte: float  # all heads of one new token looking at one earlier one
    dense_precision: Precision
    expert_precision: Precision

    def weight_bytes(self) -> float:
        """All weights a replica keeps, the input embedding aside."""
        return self.dense_bytes + self.expert_bytes

    def kv_bytes(self, context: float) -> float:
        """KV of one sequence with this many tokens."""
        return self.kv_bytes_per_token * context + self.window_bytes_per_token * min(context, self.window_tokens)

    def touched_share(self, tokens: float) -> float:
        """The share of expert weights that a step over this many tokens reads."""
        return 1.0 - self.expert_miss**tokens if self.expert_miss < 1.0 else 0.0

    def attention_flops(self, tokens: float, cached: float) -> float:
        """Causal attention of a prompt whose first `cached` tokens are already known."""
        pairs = (tokens * tokens - cached * cached) / 2
        near = (tokens - cached) * min(tokens, self.window_tokens)
        return self.attention_flops_per_pair * pairs + self.window_flops_per_pair * min(pairs, near)


def work(spec: ModelSpec, *, precision: Precision, kv_precision: Precision) -> Work:
    """Count the demands of a model at these precisions."""
    count = parameters(spec)
    dense = count.attention + count.dense_mlp + count.shared_experts + count.router
    head = spec.hidden * spec.vocabulary
    experts, latent = spec.experts, spec.latent
    expert_layers = spec.layers - experts.dense_layers if experts else 0
    # Four-bit mixtures are published with only their experts quantised.
    outside = Precision.BF16 if experts and precision in FOUR_BIT else precision
    windowed = spec.windowed_layers if spec.window_tokens is not None else 0
    kv_token = kv_bytes_per_token(spec, kv_precision)
    # Scores and weighted values: two products of two operations for each number of each head.
    pair = spec.heads * (2 * (latent.nope_dim + latent.rope_dim + latent.value_dim) if latent else 4 * spec.head_dim)
    # In a decode step a latent is attended to as it is kept, unexpanded: as wide as its rank for every head.
    decode_pair = spec.heads * 2 * (2 * latent.kv_rank + latent.rope_dim) if latent else pair
    return Work(
        layers=spec.layers,
        launches=_launches(spec, windowed),
        hidden=spec.hidden,
        dense_bytes=dense * BYTES[outside] + head * HEAD_BYTES,
        expert_bytes=count.routed_experts * BYTES[precision],
        expert_layers=expert_layers,
        expert_launches=expert_layers * (1 + SHARED_EXPERT_LAUNCHES * bool(experts and experts.shared_intermediate)),
        expert_count=experts.count if experts else 0,
        expert_miss=1.0 - experts.active / experts.count if experts else 1.0,
        expert_active=experts.active if experts else 0,
        dense_flops_per_token=2.0 * dense,
        expert_flops_per_token=2.0 * count.routed_experts_active,
        head_flops_per_token=2.0 * head,
        attention_flops_per_pair=float((spec.layers - windowed) * pair),
        window_flops_per_pair=float(windowed * pair),
        kv_bytes_per_token=kv_token,
        window_bytes_per_token=kv_bytes_per_sequence(spec, 1, kv_precision) - kv_token,
        window_tokens=spec.window_tokens or 0,
        kv_shards_max=1 if latent else spec.kv_heads,
        decode_flops_per_kv_byte=(spec.layers - windowed) * decode_pair / kv_token if kv_token else 0.0,
        dense_precision=outside,
        expert_precision=precision,
    )


def _launches(spec: ModelSpec, windowed: int) -> float:
    linear = windowed if spec.has_linear_attention else 0
    return spec.layers * (1 + LATENT_LAUNCHES * (spec.latent is not None)) + linear * LINEAR_LAUNCHES
