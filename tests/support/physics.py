"""A chip and two small models with round numbers, so that a test can say what a step must take."""

from heterodyne.physics.hardware import Accelerator, Link
from heterodyne.physics.model_spec import Experts, ModelSpec
from heterodyne.physics.parallelism import Parallelism
from heterodyne.physics.placement import Placement, place
from heterodyne.physics.precision import Precision
from heterodyne.physics.prices import Prices
from heterodyne.physics.work import Work, work

LINK = Link(name="round", bytes_per_s=100e9, pair_bytes_per_s=50e9, latency_s=1e-6)
CHIP = Accelerator(
    name="round",
    vendor="nobody",
    architecture="test",
    memory_bytes=100e9,
    memory_bytes_per_s=1e12,
    flops={Precision.BF16: 100e12},
    achievable_flops={Precision.BF16: 50e12},
    link=LINK,
    fast_domain_chips=8,
)
DENSE = ModelSpec(
    name="dense",
    layers=10,
    hidden=1000,
    heads=10,
    kv_heads=2,
    head_dim=100,
    intermediate=4000,
    vocabulary=10_000,
    context_tokens=100_000,
)
MIXTURE = ModelSpec(
    name="mixture",
    layers=10,
    hidden=1000,
    heads=10,
    kv_heads=2,
    head_dim=100,
    intermediate=0,
    vocabulary=10_000,
    context_tokens=100_000,
    experts=Experts(count=64, active=4, intermediate=1000),
)
# Every term at its ideal, every count free: what is left is the roofline's own arithmetic.
IDEAL = Prices(
    weights=1.0, experts=1.0, kv=1.0, compute=1.0, expert_compute=1.0, layer_s=0.0, expert_layer_s=0.0, hops=1.0,
    reduce=1.0, exchange=1.0, sequence_s=0.0, step_s=0.0, prompt_compute=1.0, prompt_reduce=1.0, prompt_layer_s=0.0,
)  # fmt: skip


def demands(spec: ModelSpec = DENSE, kv_precision: Precision = Precision.BF16) -> Work:
    """A model's work in BF16."""
    return work(spec, precision=Precision.BF16, kv_precision=kv_precision)


def placement(spec: ModelSpec = DENSE, chip: Accelerator = CHIP, **widths: int) -> Placement:
    """A model on the round chip."""
    return place(demands(spec), accelerator=chip, parallelism=Parallelism(**widths))
