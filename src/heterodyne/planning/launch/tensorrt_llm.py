"""TensorRT-LLM: `trtllm-serve` with the PyTorch backend and a file of the options that have no flag."""

from heterodyne.physics.precision import Precision
from heterodyne.planning.launch.environment import environment
from heterodyne.planning.launch.images import TENSORRT_LLM_VERSION, image, image_notes
from heterodyne.planning.launch.launch_plan import ENGINE_PORT, Flag, LaunchPlan, Site
from heterodyne.planning.launch.sizing import Sizing
from heterodyne.planning.launch.speculation import DraftKind, SpeculativeDecoding
from heterodyne.planning.yaml_text import YamlValue, yaml_text

DOCUMENTATION = f"Flags as in the documentation of trtllm-serve, TensorRT-LLM {TENSORRT_LLM_VERSION} and 1.3.0rc."
OPTIONS_FILE = "tensorrt-llm.yaml"


def launch(sizing: Sizing, site: Site) -> LaunchPlan:
    """The command of one replica, and its options."""
    layout = sizing.layout
    chosen = image(layout.engine, sizing.platform, layout.accelerator.architecture)
    return LaunchPlan(
        program=("trtllm-serve", sizing.weights.place),
        flags=(
            Flag(words=("--backend", "pytorch")),
            Flag(words=("--host", site.address)),
            Flag(words=("--port", str(ENGINE_PORT))),
            Flag(words=("--tp_size", str(sizing.ranks)), because=sizing.because("tp")),
            *_experts(sizing),
            Flag(words=("--max_seq_len", str(sizing.context_tokens)), because=sizing.because("context")),
            Flag(words=("--max_batch_size", str(sizing.sequences)), because=sizing.because("sequences")),
            Flag(words=("--max_num_tokens", str(sizing.step_tokens)), because=sizing.because("step_tokens")),
            Flag(
                words=("--kv_cache_free_gpu_memory_fraction", f"{sizing.memory_fraction:g}"),
                because=f"{sizing.because('memory_fraction')}; of what weights and buffers leave",
            ),
            Flag(words=("--extra_llm_api_options", f"{site.files_folder}/{OPTIONS_FILE}")),
        ),
        environment=environment(sizing, site),
        files={OPTIONS_FILE: yaml_text(_options(sizing))},
        image=chosen,
        metrics_path="/prometheus/metrics",
        served_name=sizing.weights.place,
        documentation=DOCUMENTATION,
        notes=image_notes(chosen),
    )


def _experts(sizing: Sizing) -> list[Flag]:
    if not sizing.is_expert_parallel:
        return []
    return [Flag(words=("--ep_size", str(sizing.ranks)), because=sizing.because("experts"))]


def _options(sizing: Sizing) -> dict[str, YamlValue]:
    cache: dict[str, YamlValue] = {
        "enable_block_reuse": True,
        "free_gpu_memory_fraction": sizing.memory_fraction,
        "dtype": "fp8" if sizing.layout.kv_precision is Precision.FP8 else "auto",
    }
    options: dict[str, YamlValue] = {
        "enable_chunked_prefill": True,
        "kv_cache_config": cache,
        "return_perf_metrics": True,  # else there is no /prometheus/metrics
        "enable_iter_perf_stats": True,
    }
    if sizing.guessing is not None:
        options["speculative_config"] = _speculative(sizing.guessing)
        options["disable_overlap_scheduler"] = True  # as the documentation's two-model examples have it
    return options


def _speculative(guessing: SpeculativeDecoding) -> YamlValue:
    if guessing.kind is DraftKind.NGRAM or guessing.draft_weights is None:
        return {
            "decoding_type": "NGram",
            "max_draft_len": guessing.tokens,
            "max_matching_ngram_size": guessing.tokens,
        }
    return {
        "decoding_type": "Draft_Target",
        "max_draft_len": guessing.tokens,
        "speculative_model": guessing.draft_weights,
    }
