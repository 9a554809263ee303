"""Pure: the prior of a pool: its model on its hardware under its engine, as far as the catalogues know them."""

from collections.abc import Mapping, Sequence

from msgspec import structs

from heterodyne.domain.errors import OperatorError
from heterodyne.fleet.settings import PoolSettings
from heterodyne.physics.catalogue import accelerator
from heterodyne.physics.engine_kind import EngineKind
from heterodyne.physics.hardware import Accelerator
from heterodyne.physics.kv import kv_bytes_per_token
from heterodyne.physics.memory import Layout
from heterodyne.physics.model_shapes import model_spec
from heterodyne.physics.precision import Precision
from heterodyne.physics.profile import Basis, Profile
from heterodyne.physics.profile_catalogue import profile_for
from heterodyne.physics.replica.from_layout import placement_of, scheduling_of
from heterodyne.physics.replica.step_clock import StepClock
from heterodyne.routing.prediction.prior import Prior, prior_of

CONTEXT_TOKENS = 4096  # of a usual sequence, where the pool does not say
DOUBTS = {Basis.OWN: 0.1, Basis.CHIP: 0.2, Basis.FAMILY: 0.4}
DOUBT_OTHERWISE = 0.8


def try_prior(
    pool: PoolSettings, catalogue: Mapping[str, Accelerator], measured: Sequence[Profile] = ()
) -> Prior | None:
    """None where the model, the chip or what fits on it is not known: then everything has to be learned."""
    if pool.hardware is None:
        return None
    try:
        layout = layout_of(pool, catalogue)
        prior = prior_for(layout, measured, context_tokens=pool.context_tokens or CONTEXT_TOKENS)
        if pool.kv_link is None:
            return prior
        link = accelerator(pool.kv_link, catalogue).link
    except OperatorError:
        return None
    # The chips of both sides move their shards at once.
    bytes_per_s = layout.tp * link.pair_bytes_per_s
    if pool.kv_transfer is not None:
        return structs.replace(prior, kv_link_bytes_per_s=bytes_per_s)
    return structs.replace(prior, kv_fetch_token_s=prior.kv_token_bytes / bytes_per_s)


def layout_of(pool: PoolSettings, catalogue: Mapping[str, Accelerator]) -> Layout:
    """The pool's model on its chips; raises what is not known of it."""
    spec = model_spec(pool.shape or pool.model)
    return Layout(
        model=spec,
        accelerator=accelerator(pool.hardware or "", catalogue),
        precision=spec.checkpoint_precision if pool.precision is None else Precision(pool.precision),
        kv_precision=Precision.BF16,
        tp=pool.tp,
        # An engine without numbers of its own is taken for the most usual one.
        engine=EngineKind(pool.engine) if pool.engine in tuple(EngineKind) else EngineKind.VLLM,
    )


def prior_for(layout: Layout, measured: Sequence[Profile], *, context_tokens: int) -> Prior:
    """What physics says of one replica laid out like this."""
    found = profile_for(
        layout.model,
        layout.accelerator,
        engine=layout.engine,
        precision=layout.precision,
        tp=layout.tp,
        measured=measured,
    )
    prior = prior_of(
        StepClock(placement_of(layout), found.profile),
        scheduling_of(layout, context_tokens=context_tokens),
        doubt=doubt_of(found.basis),
    )
    return structs.replace(prior, kv_token_bytes=float(kv_bytes_per_token(layout.model, layout.kv_precision)))


def doubt_of(basis: Basis) -> float:
    """How far off physics may well be, by what it rests on."""
    return DOUBTS.get(basis, DOUBT_OTHERWISE)
