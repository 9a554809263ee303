"""The file `heterodyne config init` writes: every setting with its sentence, defaults commented out."""

import json
import textwrap
from collections.abc import Iterator, Mapping

import msgspec

from heterodyne.config.fields import Field, named_fields, pool_fields, section_fields, toml_key
from heterodyne.config.settings import NAMED, SECTIONS
from heterodyne.registry.defaults import DEFAULT_POOLS

WIDTH = 100
HEADER = """\
# Heterodyne settings.
# A line that is commented out shows the default; remove the `#` to change it.
# A variable such as HETERODYNE_GATEWAY__PORT=9000 or a flag such as --set gateway.port=9000 goes before
# this file. `heterodyne config check` finds mistakes, `heterodyne config show` prints what holds.
"""
EXAMPLES: dict[str, object] = {  # what to show where the default is to be absent
    "latency_budget_ms": 8000.0,
    "cache_url": "redis://127.0.0.1:6379/1",
    "prompts_url": "postgresql://heterodyne@127.0.0.1/prompts",
    "files_url": "s3://bucket/heterodyne-files",
    "tls_certificate": "/etc/heterodyne/tls.crt",
    "tls_key": "/etc/heterodyne/tls.key",
    "tls_client_authorities": "/etc/heterodyne/clients.pem",
    "tls_client_revoked": "/etc/heterodyne/revoked.pem",
    "tls_authorities": "/etc/heterodyne/engines.pem",
    "tls_revoked": "/etc/heterodyne/engines-revoked.pem",
    "issuer_url": "https://login.example.com/realms/prod",
    "audiences": ["heterodyne"],
    "client_id": "heterodyne-console",
    "client_secret_env": "CONSOLE_CLIENT_SECRET",
    "console_url": "https://console.example.com",
    "cache_region": "eu-west",
    "cache_dir": "/var/cache/heterodyne",
    "models_dir": "/var/lib/heterodyne/models",
    "blobs_url": "s3://bucket/heterodyne",
    "local_max_gib": 500.0,
    "ram_dir": "/mnt/ram/heterodyne",
    "ram_max_gib": 100.0,
    "redis_url": "redis://localhost:6379/0",
    "fleet_url": "redis://localhost:6379/2",
    "spool_dir": "/var/lib/heterodyne/spool",
    "dir": "/var/lib/heterodyne/audit",
    "key_file": "/etc/heterodyne/audit.key",
    "drift_interval_s": 3600.0,
    "anchor_file": "/mnt/elsewhere/anchors.jsonl",
    "profiles": ["/var/lib/heterodyne/profiles.toml"],
    "engine_model": "Qwen/Qwen3-8B",
    "api_key_env": "UPSTREAM_API_KEY",
    "budget_usd_per_hour": 20,
    "weights": "file:/srv/models/model.gguf",
    "weights_sha256": "0" * 64,
    "context_tokens": 8192,
    "chat_template": "/etc/heterodyne/template.jinja",
    "version": "2026-05",
    "hardware": "h100-sxm",
    "shape": "llama-3.1-70b",
    "precision": "fp8",
    "kv_link": "h100-sxm",
    "kv_transfer": "nixl",
    "kv_store": "shared",
    "kv_block_tokens": 16,
    "bytes_per_s": 2e9,
    "latency_ms": 2.0,
    "ttl_s": 3600.0,
    "path": "/var/cache/heterodyne/kv",
    "ray_address": "ray://head.example:10001",
    "ray_accelerator_type": "H100",
    "ray_gpus": 1.0,
    "inference_pool": "serving/llama",
    "manifests": "/etc/heterodyne/manifests",
    "price_usd_per_hour": 2.5,
    "price_usd_per_million_prompt_tokens": 0.6,
    "price_usd_per_million_completion_tokens": 1.8,
    "price_usd_per_million_cached_tokens": 0.06,
    "price_usd_per_million_cache_write_tokens": 0.75,
    "price_long_prompt_tokens": 200_000,
    "price_long_usd_per_million_prompt_tokens": 1.2,
    "price_long_usd_per_million_completion_tokens": 2.7,
    "price_long_usd_per_million_cached_tokens": 0.12,
    "price_long_usd_per_million_cache_write_tokens": 1.5,
    "kubeconfig": "/etc/heterodyne/kubeconfig",
    "keda_port": 9090,
    "kubeconfig_context": "production",
    "discover": "kubernetes",
    "kubernetes_namespace": "llm",
    "kubernetes_service": "vllm-chat",
    "kubernetes_selector": "app=vllm-chat",
    "kubernetes_port": "http",
    "kubernetes_workload": "deployment/vllm-chat",
    "kubernetes_hardware_label": "nvidia.com/gpu.product",
    "price_list": "/etc/heterodyne/model_prices_and_context_window.json",
    "price_list_model": "gpt-5",
    "region": "eu-west",
    "in_flight_max": 64,
    "pools": ["chat"],
    "slo_ttft_ms": 500.0,
    "slo_itl_ms": 50.0,
    "require_memory_gib_min": 64.0,
    "guard": "secrets",
    "direction": "input",
    "url": "http://127.0.0.1:9000/look",
    "judge_model": "llama-guard-3",
    "instructions": "Answer `unsafe` if the texts name a customer, `safe` otherwise.",
    "timeout_ms": 500,
    "on_failure": "refuse",
    "language": "en",
    "spacy_model": "en_core_web_lg",
    "calls_max": 8,
    "argument_chars_max": 16_384,
    "json_schema": '{"type": "object"}',
    "messages_max": 200,
    "prompt_chars_max": 100_000,
    "prompt_tokens_max": 32_768,
    "answer_chars_max": 20_000,
    "requests_per_minute": 6,
    "window_s": 3600,
    "keys_min": 5,
    "prompts_min": 3,
    "across": "projects",
    "similarity_min": 0.6,
    "words_min": 8,
    "logits_min": 200,
    "temperatures_min": 5,
    "verbatim_min": 5,
    "series_min": 500,
    "usd_min": 1.0,
    "factor_min": 3.0,
    "false_alarms_per_year": 1.0,
    "warm_up_hours": 24,
}
URL_POOL = """\
# A pool of replicas that already run, for example vLLM on two machines:
#
# [pools.big]
# model = "qwen3-8b"
# engine = "vllm"
# urls = ["http://10.0.0.11:8000", "http://10.0.0.12:8000"]
# engine_model = "Qwen/Qwen3-8B"
# api_key_env = "UPSTREAM_API_KEY"
"""


def template() -> str:
    """The whole text; read back unchanged, it gives the default settings."""
    sections = ["\n".join(_section(name)) for name in SECTIONS]
    return "\n".join([HEADER, *sections, "\n".join(_default_pools()), *map("\n".join, map(_example, NAMED))]) + "\n"


def toml_value(value: object) -> str:
    """One value as TOML on one line; of scalars JSON's spelling is also TOML's."""
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{toml_key(str(key))} = {toml_value(item)}" for key, item in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    return json.dumps(value, ensure_ascii=False, default=str)


def _section(name: str) -> Iterator[str]:
    yield f"# {SECTIONS[name].__doc__}"
    yield f"[{name}]"
    for field in section_fields(name):
        yield from _commented_field(field)
    yield ""


def _commented_field(field: Field) -> Iterator[str]:
    name = field.path[-1]
    is_absent = field.is_required or field.default is None
    sentence = field.description + (" Absent by default; for example:" if field.default is None else "")
    yield from (f"# {line}" for line in textwrap.wrap(sentence, WIDTH - 2))
    shown = EXAMPLES.get(name, "") if is_absent else field.default
    yield f"# {name} = {toml_value(shown)}"


def _default_pools() -> Iterator[str]:
    yield "# Pools: equal replicas of one model, each pool under a name of its own. These are the default ones."
    for name, pool in DEFAULT_POOLS.items():
        values = msgspec.structs.asdict(pool)
        yield f"[pools.{name}]"
        for field in pool_fields(name):
            value = values[field.path[-1]]
            if value != field.default:
                yield f"{field.path[-1]} = {toml_value(value)}"
        yield ""
    yield URL_POOL


def _example(table: str) -> Iterator[str]:
    """Every setting of a section of this table."""
    yield f"# {NAMED[table].__doc__} Everything it can say:"
    yield "#"
    yield f"# [{table}.example]"
    for field in named_fields(table, "example"):
        yield from _commented_field(field)
    yield ""
