"""What the KV of a pool is made of: only replicas where all of it is equal can use each other's."""

from hashlib import sha256

from heterodyne.fleet.settings import PoolSettings

BLOCK_TOKENS = {"vllm": 16, "sglang": 1, "tensorrt-llm": 32}  # of engines as they come
DIGEST_CHARS = 16


def kv_layout(name: str, pool: PoolSettings) -> str:
    """A digest of `kv_layout_facts`; empty where the pool's engines exchange nothing."""
    if pool.kv_transfer is None and pool.kv_store is None:
        return ""
    text = "\n".join(f"{fact}={value}" for fact, value in sorted(kv_layout_facts(name, pool).items()))
    return sha256(text.encode()).hexdigest()[:DIGEST_CHARS]


def kv_layout_facts(name: str, pool: PoolSettings) -> dict[str, str]:
    """By name, so that a difference can be told. A pool that does not say its version is like no other."""
    return {
        "model": pool.engine_model or pool.model,
        "version": pool.version or pool.weights_sha256 or f"that of pool {name} alone: it does not say",
        "precision": pool.precision or "as it comes",
        "block_tokens": str(pool.kv_block_tokens or BLOCK_TOKENS.get(pool.engine, 0)),
        "engine": pool.engine,
    }
