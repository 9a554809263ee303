"""The models of the measured rows; those the catalogue lacks, from their published configuration files."""

from heterodyne.physics.model_shapes import model_spec
from heterodyne.physics.model_spec import Experts, LatentAttention, ModelSpec

DEEPSEEK_LATENT = LatentAttention(kv_rank=512, rope_dim=64, nope_dim=128, value_dim=128, query_rank=1536)

KIMI_K2 = ModelSpec(
    name="kimi-k2.5", layers=61, hidden=7168, heads=64, kv_heads=64, head_dim=128, intermediate=18432,
    vocabulary=163840, context_tokens=262144, latent=DEEPSEEK_LATENT,
    experts=Experts(count=384, active=8, intermediate=2048, shared_intermediate=2048, dense_layers=1),
)  # fmt: skip
# Three layers of four keep a constant state instead of KV; a window of the same bytes stands for it.
QWEN35_397B = ModelSpec(
    name="qwen3.5-397b-a17b", layers=60, hidden=4096, heads=32, kv_heads=2, head_dim=256, intermediate=0,
    vocabulary=248320, context_tokens=262144, window_tokens=512, windowed_layers=45,
    has_linear_attention=True,
    experts=Experts(count=512, active=10, intermediate=1024, shared_intermediate=1024),
)  # fmt: skip

MODELS = {
    "meta-llama/Llama-3.1-8B-Instruct": model_spec("llama-3.1-8b"),
    "meta-llama/Llama-3.1-70B": model_spec("llama-3.1-70b"),
    "Qwen/Qwen3-32B": model_spec("qwen3-32b"),
    "nvidia/Qwen3-32B-NVFP4": model_spec("qwen3-32b"),
    "Qwen/Qwen3-235B-A22B-FP8": model_spec("qwen3-235b-a22b"),
    "openai/gpt-oss-120b": model_spec("gpt-oss-120b"),
    "deepseek-ai/DeepSeek-V3": model_spec("deepseek-v3"),
    "deepseek-ai/DeepSeek-R1": model_spec("deepseek-v3"),
    "nvidia/DeepSeek-V3.1-NVFP4": model_spec("deepseek-v3"),
    "moonshotai/Kimi-K2.5": KIMI_K2,
    "Qwen/Qwen3.5-397B-A17B": QWEN35_397B,
}
