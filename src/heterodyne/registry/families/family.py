"""One family of decoders: its tensors, by their names in SafeTensors and in GGUF, and how the numbers differ."""

from msgspec import Struct

from heterodyne.domain.errors import WeightsCorrupt
from heterodyne.registry.families.decoder_shape import DecoderShape

EMBEDDING = "model.embed_tokens.weight"
HEAD = "lm_head.weight"  # absent where the embedding serves as the head
LAYER = "model.layers.{}."
GGUF_LAYER = "blk.{}."


class TensorRule(Struct, frozen=True):
    """One tensor; of a layer, without what says which."""

    name: str
    gguf: str
    lengths: tuple[str, ...]  # of its sides, as `DecoderShape.lengths` has them
    is_rotated: bool = False  # queries or keys, whose rows stand otherwise where neighbours are rotated
    is_norm: bool = False


class Family(Struct, frozen=True, kw_only=True):
    """Models that have the same tensors. A new one is a file here, a line in the catalogue, and a test."""

    name: str
    architectures: dict[str, str]  # by model type, the class that `config.json` names
    gguf: str  # `general.architecture`
    layer: tuple[TensorRule, ...]
    activation: str = "silu"
    rotates_neighbours: bool = False  # in GGUF, where SafeTensors rotates a head's first half with its second
    norm_shift: float = 0.0  # what GGUF adds to the weights of norms
    window_pattern: int | None = None  # that the model type stands for, where the config does not say it

    def rules(self, shape: DecoderShape) -> dict[str, TensorRule]:
        """Every tensor of a model of this shape, by its name in SafeTensors."""
        found = {rule.name: rule for rule in OUTER if rule.name != HEAD or not shape.has_tied_embeddings}
        for number in range(shape.layers):
            for rule in self.layer:
                name = LAYER.format(number) + rule.name
                found[name] = TensorRule(
                    name, GGUF_LAYER.format(number) + rule.gguf, rule.lengths, rule.is_rotated, rule.is_norm
                )
        return found


OUTER = (
    TensorRule(EMBEDDING, "token_embd.weight", ("vocabulary", "hidden")),
    TensorRule("model.norm.weight", "output_norm.weight", ("hidden",), is_norm=True),
    TensorRule(HEAD, "output.weight", ("vocabulary", "hidden")),
)
ATTENTION = (
    TensorRule("input_layernorm.weight", "attn_norm.weight", ("hidden",), is_norm=True),
    TensorRule("self_attn.q_proj.weight", "attn_q.weight", ("queries", "hidden"), is_rotated=True),
    TensorRule("self_attn.k_proj.weight", "attn_k.weight", ("keys", "hidden"), is_rotated=True),
    TensorRule("self_attn.v_proj.weight", "attn_v.weight", ("keys", "hidden")),
    TensorRule("self_attn.o_proj.weight", "attn_output.weight", ("hidden", "queries")),
)
ATTENTION_BIASES = (
    TensorRule("self_attn.q_proj.bias", "attn_q.bias", ("queries",), is_rotated=True),
    TensorRule("self_attn.k_proj.bias", "attn_k.bias", ("keys",), is_rotated=True),
    TensorRule("self_attn.v_proj.bias", "attn_v.bias", ("keys",)),
)
HEAD_NORMS = (
    TensorRule("self_attn.q_norm.weight", "attn_q_norm.weight", ("head",), is_norm=True),
    TensorRule("self_attn.k_norm.weight", "attn_k_norm.weight", ("head",), is_norm=True),
)
FEED_FORWARD = (
    TensorRule("mlp.gate_proj.weight", "ffn_gate.weight", ("feed_forward", "hidden")),
    TensorRule("mlp.up_proj.weight", "ffn_up.weight", ("feed_forward", "hidden")),
    TensorRule("mlp.down_proj.weight", "ffn_down.weight", ("hidden", "feed_forward")),
)
BEFORE_FEED_FORWARD = (TensorRule("post_attention_layernorm.weight", "ffn_norm.weight", ("hidden",), is_norm=True),)
# Models with a norm on both sides of both halves of a layer.
FOUR_NORMS = (
    TensorRule("post_attention_layernorm.weight", "post_attention_norm.weight", ("hidden",), is_norm=True),
    TensorRule("pre_feedforward_layernorm.weight", "ffn_norm.weight", ("hidden",), is_norm=True),
    TensorRule("post_feedforward_layernorm.weight", "post_ffw_norm.weight", ("hidden",), is_norm=True),
)


def check_tensors(where: str, found: dict[str, tuple[int, ...]], family: Family, shape: DecoderShape) -> None:
    """Raise the first tensor that is missing, of another shape than the config says, or not of the family."""
    rules, lengths = family.rules(shape), shape.lengths()
    for name, rule in rules.items():
        expected = tuple(lengths[one] for one in rule.lengths)
        if name not in found:
            raise WeightsCorrupt(f'{where}: has no tensor "{name}", which a {family.name} model of {shape.layers} has')
        if found[name] != expected:
            raise WeightsCorrupt(
                f'{where}: the tensor "{name}" is {list(found[name])}; by its config it is {list(expected)}'
            )
    for name in found:
        if name not in rules and not _is_spare(name, shape):
            raise WeightsCorrupt(f'{where}: has a tensor "{name}", which no {family.name} model has')


def _is_spare(name: str, shape: DecoderShape) -> bool:
    """What some checkpoints carry along: a head that is the embedding, and angles that follow from the config."""
    return (name == HEAD and shape.has_tied_embeddings) or name.endswith("rotary_emb.inv_freq")
