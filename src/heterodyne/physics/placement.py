"""A model laid out on chips: the ideal seconds of each kind of work, before any engine's inefficiency."""

from math import log, sqrt

from msgspec import Struct

from heterodyne.domain.errors import InvalidSpec
from heterodyne.physics.hardware import Accelerator, Link
from heterodyne.physics.parallelism import Parallelism
from heterodyne.physics.precision import Precision
from heterodyne.physics.work import ACTIVATION_BYTES, Work

# A datasheet peak without a measurement is taken at this share, the middle of the measured chips.
ACHIEVABLE_SHARE = 0.75
# Formats some chips only store: they multiply in the first of these that they can.
MULTIPLIES_AS = (Precision.BF16, Precision.FP16, Precision.FP32)


class Placement(Struct, frozen=True, kw_only=True):
    """Ideal seconds per unit of work of one replica, so that a step is a few products."""

    work: Work
    parallelism: Parallelism
    dense_read_s: float  # every dense weight once
    expert_read_s: float  # every expert once
    expert_imbalance: float  # how far the fullest of the chips that experts are dealt to is beyond the mean; see below
    kv_s_per_byte: float
    token_flops_s: float  # one sequence's token in a decode step, head included, experts aside
    expert_flops_s: float  # one token, of a prompt or a decode step, in the experts it visits
    prompt_flops_s: float  # one prompt token; attention, experts and head aside
    attention_s_per_flop: float
    head_flops_s: float
    hop_s: float  # latency of all collectives of one step
    reduce_s_per_token: float  # tensor-parallel sums
    exchange_s_per_token: float  # expert-parallel dispatch and return
    stage_hop_s: float  # latency between pipeline stages, all of them
    stage_s_per_token: float

    def fullest_share(self, share: float) -> float:
        """The share of its experts that the slowest chip reads where the mean reads this much.

        Experts dealt out whole are hit by chance: of `n` experts on a chip, each touched with probability p, the
        fullest of `ep` chips has about sqrt(2 ln(ep) p (1-p) / n) more of them than the mean.
        """
        return min(1.0, share + self.expert_imbalance * sqrt(share * (1.0 - share)))


def place(
    work: Work, *, accelerator: Accelerator, parallelism: Parallelism, outer_link: Link | None = None
) -> Placement:
    """Lay a model out on chips of one kind; `outer_link` joins those that the chip's own link does not reach."""
    tp, dp, pp, ep = parallelism.tp, parallelism.dp, parallelism.pp, parallelism.ep
    chips = parallelism.stage_chips
    memory = accelerator.memory_bytes_per_s
    dense_flops = chips * compute_flops(accelerator, work.dense_precision)
    link = stage_link = accelerator.link
    if outer_link and chips > accelerator.fast_domain_chips:
        link = outer_link
    if outer_link and parallelism.chips > accelerator.fast_domain_chips:
        stage_link = outer_link
    token_bytes = work.hidden * ACTIVATION_BYTES
    # A ring sum passes 2 (n-1)/n of the data through each chip; a layer sums after attention and after its MLP.
    reduce = 2 * (tp - 1) / tp * token_bytes * 2 * work.layers / link.bytes_per_s / dp
    # Where attention is one, every chip has every token and a sum after the experts brings them back. Copies of
    # attention send theirs to the chips of the experts and get them back; experts cut by tensor need all of them.
    exchange = 0.0
    if dp > 1 and ep > 1:
        travelling = 2 * work.expert_active * token_bytes * work.expert_layers
        exchange = travelling * (ep - 1) / ep / chips / link.bytes_per_s
    elif dp > 1:
        exchange = 2 * token_bytes * work.expert_layers * (dp - 1) / dp / link.bytes_per_s
    dense_token = work.dense_flops_per_token / dense_flops
    expert_token = work.expert_flops_per_token / (chips * compute_flops(accelerator, work.expert_precision))
    head_token = work.head_flops_per_token / dense_flops
    attention_flops = chips * compute_flops(accelerator, Precision.BF16)
    kv_read = 1.0 / (min(tp, work.kv_shards_max) * dp * memory)
    return Placement(
        work=work,
        parallelism=parallelism,
        dense_read_s=work.dense_bytes / (tp * memory),
        expert_read_s=work.expert_bytes / (chips * memory),
        expert_imbalance=sqrt(2 * log(ep) * ep / work.expert_count) if ep > 1 and work.expert_count else 0.0,
        # Many heads over one latent may take longer to multiply than to read.
        kv_s_per_byte=max(kv_read, work.decode_flops_per_kv_byte / attention_flops),
        token_flops_s=dense_token + head_token,
        expert_flops_s=expert_token,
        prompt_flops_s=dense_token,
        attention_s_per_flop=1.0 / attention_flops,
        head_flops_s=head_token,
        hop_s=_hops(work, parallelism) * link.latency_s,
        reduce_s_per_token=reduce,
        exchange_s_per_token=exchange,
        stage_hop_s=(pp - 1) * stage_link.latency_s,
        stage_s_per_token=(pp - 1) * token_bytes / stage_link.pair_bytes_per_s,
    )


def compute_flops(accelerator: Accelerator, precision: Precision) -> float:
    """The rate a large matrix product reaches; a format the chip cannot multiply in runs as a wider one."""
    for candidate in (precision, *MULTIPLIES_AS):
        if candidate in accelerator.achievable_flops:
            return accelerator.achievable_flops[candidate]
        if candidate in accelerator.flops:
            return accelerator.flops[candidate] * ACHIEVABLE_SHARE
    raise InvalidSpec(
        f"accelerators.{accelerator.name}.flops: no rate for {precision}; give flops.{precision} or flops.bf16"
    )


def _hops(work: Work, parallelism: Parallelism) -> int:
    reduces = 2 * work.layers if parallelism.tp > 1 else 0
    exchanges = 2 * work.expert_layers if parallelism.dp > 1 else 0
    return reduces + exchanges
