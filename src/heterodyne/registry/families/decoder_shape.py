"""The numbers of a decoder, as `config.json` has them and as they go back there."""

from collections.abc import Mapping

from msgspec import Struct

from heterodyne.domain.errors import WeightsUnavailable
from heterodyne.physics.config_fields import ConfigFields

ROPE_THETA = 10_000.0  # where nothing else is said


class RopeScaling(Struct, frozen=True, kw_only=True):
    """How positions beyond the trained context are reached."""

    kind: str  # linear, yarn, llama3
    factor: float
    original_context_tokens: int | None = None
    low_frequency_factor: float = 1.0  # of llama3
    high_frequency_factor: float = 4.0


class DecoderShape(Struct, frozen=True, kw_only=True):
    """One model. Absent numbers are those of models that have no such thing."""

    model_type: str
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    feed_forward: int
    vocabulary: int
    context_tokens: int
    norm_epsilon: float
    rope_theta: float
    rope_scaling: RopeScaling | None = None
    has_tied_embeddings: bool = False
    window_tokens: int | None = None  # of layers with sliding attention
    attention_softcap: float | None = None
    logit_softcap: float | None = None
    query_scalar: float | None = None  # attention is scaled by its inverse root; None: by that of the head's width
    local_rope_theta: float | None = None  # of layers with sliding attention; None: that of the others
    window_pattern: int | None = None  # every so many layers one looks at everything; None: all or none do
    bos: int | None = None
    eos: int | list[int] | None = None

    def lengths(self) -> dict[str, int]:
        """What the shapes of tensors are made of."""
        return {
            "hidden": self.hidden,
            "queries": self.heads * self.head_dim,
            "keys": self.kv_heads * self.head_dim,
            "head": self.head_dim,
            "feed_forward": self.feed_forward,
            "vocabulary": self.vocabulary,
        }

    def is_windowed(self, layer: int) -> bool:
        """Whether the layer looks back no further than the window."""
        if self.window_tokens is None:
            return False
        return self.window_pattern is None or (layer + 1) % self.window_pattern != 0


def shape_of_config(file: str, config: Mapping[str, object], patterns: Mapping[str, int]) -> DecoderShape:
    """Raises, with the file and the key, what is missing or is not supported; `patterns` are those of model types."""
    fields = ConfigFields(file, config)
    model_type = fields.word("model_type") or ""
    heads, hidden = fields.whole("num_attention_heads"), fields.whole("hidden_size")
    theta, scaling = _rope(file, config)
    window = fields.optional_whole("sliding_window") if config.get("use_sliding_window", True) else None
    return DecoderShape(
        model_type=model_type,
        layers=fields.whole("num_hidden_layers"),
        hidden=hidden,
        heads=heads,
        kv_heads=fields.optional_whole("num_key_value_heads") or heads,
        head_dim=fields.optional_whole("head_dim") or hidden // heads,
        feed_forward=fields.whole("intermediate_size"),
        vocabulary=fields.whole("vocab_size"),
        context_tokens=fields.whole("max_position_embeddings"),
        norm_epsilon=_real(file, config, "rms_norm_eps", 1e-6),
        rope_theta=theta,
        rope_scaling=scaling,
        has_tied_embeddings=config.get("tie_word_embeddings", model_type.startswith("gemma")) is True,
        window_tokens=window,
        attention_softcap=_optional_real(file, config, "attn_logit_softcapping"),
        logit_softcap=_optional_real(file, config, "final_logit_softcapping"),
        query_scalar=_optional_real(file, config, "query_pre_attn_scalar"),
        local_rope_theta=_optional_real(file, config, "rope_local_base_freq"),
        window_pattern=fields.optional_whole("sliding_window_pattern") or patterns.get(model_type),
        bos=fields.optional_count("bos_token_id"),
        eos=_ids(config.get("eos_token_id")),
    )


def config_of_shape(shape: DecoderShape, architecture: str, activation: str, dtype: str) -> dict[str, object]:
    """The members of `config.json`; the position base is there twice, for readers before and after transformers 5."""
    rope: dict[str, object] = {"rope_type": "default", "rope_theta": shape.rope_theta}
    if shape.rope_scaling is not None:
        rope |= _scaling_members(shape.rope_scaling)
    config: dict[str, object] = {
        "architectures": [architecture],
        "model_type": shape.model_type,
        "dtype": dtype,
        "hidden_act": activation,
        "hidden_activation": activation if shape.model_type.startswith("gemma") else None,
        "hidden_size": shape.hidden,
        "intermediate_size": shape.feed_forward,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "num_key_value_heads": shape.kv_heads,
        "head_dim": shape.head_dim,
        "max_position_embeddings": shape.context_tokens,
        "rms_norm_eps": shape.norm_epsilon,
        "rope_theta": shape.rope_theta,
        "rope_parameters": rope,
        "rope_scaling": None if shape.rope_scaling is None else _scaling_members(shape.rope_scaling),
        "rope_local_base_freq": shape.local_rope_theta,
        "sliding_window": shape.window_tokens,
        "sliding_window_pattern": shape.window_pattern,
        "attn_logit_softcapping": shape.attention_softcap,
        "final_logit_softcapping": shape.logit_softcap,
        "query_pre_attn_scalar": shape.query_scalar,
        "vocab_size": shape.vocabulary,
        "tie_word_embeddings": shape.has_tied_embeddings,
        "bos_token_id": shape.bos,
        "eos_token_id": shape.eos,
    }
    return {name: value for name, value in config.items() if value is not None}


def _scaling_members(scaling: RopeScaling) -> dict[str, object]:
    members: dict[str, object] = {"rope_type": scaling.kind, "factor": scaling.factor}
    if scaling.original_context_tokens is not None:
        members["original_max_position_embeddings"] = scaling.original_context_tokens
    if scaling.kind == "llama3":
        members |= {
            "low_freq_factor": scaling.low_frequency_factor,
            "high_freq_factor": scaling.high_frequency_factor,
        }
    return members


def _rope(file: str, config: Mapping[str, object]) -> tuple[float, RopeScaling | None]:
    """The base and how it is stretched; older files have `rope_scaling`, newer ones both in `rope_parameters`."""
    parameters = config.get("rope_parameters")
    parameters = parameters if isinstance(parameters, dict) else {}
    stretched = config.get("rope_scaling")
    stretched = stretched if isinstance(stretched, dict) else parameters
    theta = config.get("rope_theta", parameters.get("rope_theta", ROPE_THETA))
    if not isinstance(theta, int | float):
        raise WeightsUnavailable(f"{file}: rope_theta is {theta!r}; a number is expected")
    kind = stretched.get("rope_type", stretched.get("type", "default"))
    if kind == "default":
        return float(theta), None
    if kind not in ("linear", "yarn", "llama3"):
        raise WeightsUnavailable(f"{file}: rope_scaling of the kind {kind!r}; linear, yarn and llama3 are known")
    original = stretched.get("original_max_position_embeddings")
    return float(theta), RopeScaling(
        kind=str(kind),
        factor=_real(file, stretched, "factor", None),
        original_context_tokens=original if isinstance(original, int) else None,
        low_frequency_factor=_real(file, stretched, "low_freq_factor", 1.0),
        high_frequency_factor=_real(file, stretched, "high_freq_factor", 4.0),
    )


def _real(file: str, config: Mapping[str, object], name: str, default: float | None) -> float:
    value = config.get(name, default)
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise WeightsUnavailable(f"{file}: {name} is {value!r}; a number is expected")
    return float(value)


def _optional_real(file: str, config: Mapping[str, object], name: str) -> float | None:
    return None if config.get(name) is None else _real(file, config, name, None)


def _ids(value: object) -> int | list[int] | None:
    if isinstance(value, list):
        return [one for one in value if isinstance(one, int)]
    return value if isinstance(value, int) else None
