"""How many parameters a model has, part by part, from its shape alone. Biases are left out: they do not weigh."""

from msgspec import Struct

from heterodyne.physics.model_spec import Experts, LatentAttention, ModelSpec

NORMS_PER_LAYER = 2


class Parameters(Struct, frozen=True, kw_only=True):
    """The parameters of a whole model."""

    embedding: int  # looked up, not multiplied; the head too when they are tied
    head: int  # 0 when tied
    attention: int
    dense_mlp: int  # of layers without a mixture
    shared_experts: int  # that every token passes
    routed_experts: int
    routed_experts_active: int  # of those, what one token passes
    router: int
    norms: int
    is_head_tied: bool

    @property
    def total(self) -> int:
        """Everything that is stored."""
        return self.outside_experts + self.routed_experts

    @property
    def active(self) -> int:
        """What one token uses, as makers count it: all but the experts it does not visit."""
        return self.outside_experts + self.routed_experts_active

    @property
    def multiplied(self) -> int:
        """What one token is multiplied with: the active ones without the table it is only looked up in."""
        return self.active - (0 if self.is_head_tied else self.embedding)

    @property
    def outside_experts(self) -> int:
        """Everything but the routed experts."""
        mlp = self.dense_mlp + self.shared_experts + self.router
        return self.embedding + self.head + self.attention + mlp + self.norms


def parameters(spec: ModelSpec) -> Parameters:
    """Count a model's parameters."""
    experts = spec.experts
    sparse_layers = 0 if experts is None else spec.layers - experts.dense_layers
    each = 0 if experts is None else _mlp(spec, experts.intermediate)
    return Parameters(
        embedding=spec.vocabulary * spec.hidden,
        head=0 if spec.has_tied_embeddings else spec.vocabulary * spec.hidden,
        attention=spec.layers * attention_parameters(spec),
        dense_mlp=(spec.layers - sparse_layers) * _mlp(spec, spec.intermediate),
        shared_experts=0 if experts is None else sparse_layers * _mlp(spec, experts.shared_intermediate),
        routed_experts=0 if experts is None else sparse_layers * experts.count * each,
        routed_experts_active=0 if experts is None else sparse_layers * experts.active * each,
        router=sparse_layers * _router(spec, experts),
        norms=(spec.layers * NORMS_PER_LAYER + 1) * spec.hidden,
        is_head_tied=spec.has_tied_embeddings,
    )


def attention_parameters(spec: ModelSpec) -> int:
    """The projections of one layer's attention."""
    if spec.latent is not None:
        return _latent_attention(spec, spec.latent)
    queries = spec.hidden * spec.heads * spec.head_dim
    keys_and_values = 2 * spec.hidden * spec.kv_heads * spec.head_dim
    return queries + keys_and_values + spec.heads * spec.head_dim * spec.hidden


def _latent_attention(spec: ModelSpec, latent: LatentAttention) -> int:
    query_width = spec.heads * (latent.nope_dim + latent.rope_dim)
    queries = (
        spec.hidden * query_width
        if latent.query_rank is None
        else latent.query_rank * (spec.hidden + query_width)  # down, then up
    )
    compress = spec.hidden * (latent.kv_rank + latent.rope_dim)
    expand = latent.kv_rank * spec.heads * (latent.nope_dim + latent.value_dim)
    return queries + compress + expand + spec.heads * latent.value_dim * spec.hidden


def _mlp(spec: ModelSpec, width: int) -> int:
    return (3 if spec.has_gated_mlp else 2) * spec.hidden * width


def _router(spec: ModelSpec, experts: Experts | None) -> int:
    return 0 if experts is None else spec.hidden * experts.count
