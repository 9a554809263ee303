"""The models of the Argonne rows; those the catalogue lacks, from their published configuration files."""

from msgspec.structs import replace

from heterodyne.physics.model_shapes import model_spec
from heterodyne.physics.model_spec import ModelSpec

LLAMA_2_7B = ModelSpec(
    name="llama-2-7b", layers=32, hidden=4096, heads=32, kv_heads=32, head_dim=128, intermediate=11008,
    vocabulary=32000, context_tokens=4096,
)  # fmt: skip
LLAMA_2_70B = ModelSpec(
    name="llama-2-70b", layers=80, hidden=8192, heads=64, kv_heads=8, head_dim=128, intermediate=28672,
    vocabulary=32000, context_tokens=4096,
)  # fmt: skip
QWEN2_72B = ModelSpec(
    name="qwen2-72b", layers=80, hidden=8192, heads=64, kv_heads=8, head_dim=128, intermediate=29568,
    vocabulary=152064, context_tokens=131072,
)  # fmt: skip
# Its layers keep one, two or four KV heads; two is about their mean.
DECILM_7B = ModelSpec(
    name="decilm-7b", layers=32, hidden=4096, heads=32, kv_heads=2, head_dim=128, intermediate=14336,
    vocabulary=32000, context_tokens=8192,
)  # fmt: skip
BLOOM_7B = ModelSpec(
    name="bloom-7b1", layers=30, hidden=4096, heads=32, kv_heads=32, head_dim=128, intermediate=16384,
    vocabulary=250880, context_tokens=2048, has_gated_mlp=False, has_tied_embeddings=True,
)  # fmt: skip
GPT_J_6B = ModelSpec(
    name="gpt-j-6b", layers=28, hidden=4096, heads=16, kv_heads=16, head_dim=256, intermediate=16384,
    vocabulary=50400, context_tokens=2048, has_gated_mlp=False,
)  # fmt: skip
OPT_7B = ModelSpec(
    name="opt-6.7b", layers=32, hidden=4096, heads=32, kv_heads=32, head_dim=128, intermediate=16384,
    vocabulary=50272, context_tokens=2048, has_gated_mlp=False, has_tied_embeddings=True,
)  # fmt: skip

MODELS = {
    "meta-llama/Llama-2-7b-hf": LLAMA_2_7B,
    "meta-llama/Llama-2-70b-hf": LLAMA_2_70B,
    "meta-llama/Meta-Llama-3-8B": replace(model_spec("llama-3.1-8b"), name="llama-3-8b", context_tokens=8192),
    "meta-llama/Meta-Llama-3-70B": replace(model_spec("llama-3.1-70b"), name="llama-3-70b", context_tokens=8192),
    "mistralai/Mistral-7B-v0.1": replace(model_spec("mistral-7b"), vocabulary=32000),
    "mistralai/Mixtral-8x7B-v0.1": model_spec("mixtral-8x7b"),
    "Qwen/Qwen2-7B": replace(model_spec("qwen2.5-7b"), name="qwen2-7b"),
    "Qwen/Qwen2-72B": QWEN2_72B,
    "Qwen/Qwen1.5-7B": replace(LLAMA_2_7B, name="qwen1.5-7b", vocabulary=151936, context_tokens=32768),
    "Deci/DeciLM-7B": DECILM_7B,
    "BAAI/Aquila-7B": replace(LLAMA_2_7B, name="aquila-7b", vocabulary=100008, context_tokens=2048),
    "huggyllama/llama-7b": replace(LLAMA_2_7B, name="llama-7b", context_tokens=2048),
    "bigscience/bloom-7b1": BLOOM_7B,
    "EleutherAI/gpt-j-6b": GPT_J_6B,
    "facebook/opt-6.7b": OPT_7B,
}
