"""The shape of a transformer: everything its memory and its speed follow from."""

from msgspec import Struct

from heterodyne.physics.precision import Precision


class LatentAttention(Struct, frozen=True, kw_only=True):
    """Multi-head latent attention: keys and values of all heads share one compressed vector."""

    kv_rank: int
    rope_dim: int
    nope_dim: int
    value_dim: int
    query_rank: int | None = None  # None: queries are not compressed


class Experts(Struct, frozen=True, kw_only=True):
    """The mixture in a sparse layer."""

    count: int
    active: int  # per token, shared ones not counted
    intermediate: int
    shared_intermediate: int = 0  # width of what every token passes through besides
    dense_layers: int = 0  # leading layers without a mixture


class ModelSpec(Struct, frozen=True, kw_only=True):
    """One model, as its configuration file describes it."""

    name: str
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    intermediate: int  # of dense layers; 0 when every layer is a mixture
    vocabulary: int
    context_tokens: int
    has_tied_embeddings: bool = False
    has_gated_mlp: bool = True
    latent: LatentAttention | None = None
    experts: Experts | None = None
    window_tokens: int | None = None  # None: every layer sees the whole context
    windowed_layers: int = 0
    has_linear_attention: bool = (
        False  # windowed layers keep a constant state; a window of the same bytes stands for it
    )
    published_parameters: float | None = None  # what its makers say, to check ours against
    published_active_parameters: float | None = None  # None: not a mixture, or not known
    checkpoint_precision: Precision = Precision.BF16  # of the weights its makers publish
    checkpoint_bytes: float | None = None  # None: we have not seen the file
