"""Shapes that are served with random weights: any dense model of the physics catalogue, by its name there."""

from heterodyne.domain.errors import InvalidSpec
from heterodyne.physics.model_shapes import model_spec
from heterodyne.registry.families.decoder_shape import DecoderShape

ROPE_THETA = 500_000.0  # Llama 3's; what a position is turned by changes no time


def shape_named(name: str) -> DecoderShape:
    """As a llama of the same sides; raises for a name that is not known, and for mixtures of experts."""
    spec = model_spec(name)
    if spec.experts is not None or spec.latent is not None or not spec.has_gated_mlp or spec.has_linear_attention:
        raise InvalidSpec(f'--random-shape: "{name}" is no plain decoder; try llama-3.1-8b')
    return DecoderShape(
        model_type="llama",
        layers=spec.layers,
        hidden=spec.hidden,
        heads=spec.heads,
        kv_heads=spec.kv_heads,
        head_dim=spec.head_dim,
        feed_forward=spec.intermediate,
        vocabulary=spec.vocabulary,
        context_tokens=spec.context_tokens,
        norm_epsilon=1e-5,
        rope_theta=ROPE_THETA,
        has_tied_embeddings=spec.has_tied_embeddings,
    )
