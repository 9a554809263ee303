"""Launch plans: every chip and engine answered, every number within the memory and the class's budget."""

import json
import shlex
import subprocess

import msgspec
import pytest

from heterodyne.domain.errors import HeterodyneError, InvalidSpec, PlanImpossible
from heterodyne.physics.catalogue import accelerator, accelerators
from heterodyne.physics.engine_kind import EngineKind
from heterodyne.physics.memory import kv_sequence_share_bytes
from heterodyne.physics.model_shapes import model_spec
from heterodyne.physics.precision import Precision
from heterodyne.planning.launch.launch_plan import POD, LaunchPlan, Site, script
from heterodyne.planning.launch.registry import LAUNCHERS, launch_plan
from heterodyne.planning.launch.requirements import LaunchRequirements
from heterodyne.planning.launch.sizing import Sizing, size
from heterodyne.planning.launch.speculation import DraftKind
from heterodyne.planning.launch.weights import published_id
from heterodyne.planning.platform import host_of, platform_of
from heterodyne.planning.workload_class import BUDGETS, WorkloadClass

CHIPS = list(accelerators())


def sized(model: str, chip: str, workload: WorkloadClass = WorkloadClass.INTERACTIVE, **wishes: object) -> Sizing:
    spec = model_spec(model)
    asked = {"precision": spec.checkpoint_precision, **wishes}
    requirements = LaunchRequirements(model=spec, accelerator=accelerator(chip), workload=workload, **asked)  # type: ignore[arg-type]
    return size(requirements, accelerators())


def answered(model: str, chip: str, **wishes: object) -> Sizing | InvalidSpec | PlanImpossible:
    try:
        return sized(model, chip, **wishes)
    except (InvalidSpec, PlanImpossible) as refusal:
        return refusal


def planned(model: str, chip: str, workload: WorkloadClass = WorkloadClass.INTERACTIVE, **wishes: object) -> LaunchPlan:
    return launch_plan(sized(model, chip, workload, **wishes), Site())


def value(plan: LaunchPlan, flag: str) -> str:
    return plan.argv[plan.argv.index(flag) + 1]


@pytest.mark.parametrize("engine", EngineKind)
@pytest.mark.parametrize("chip", CHIPS)
def test_every_chip_and_engine_gets_a_plan_or_a_refusal_that_names_the_chip(chip: str, engine: EngineKind) -> None:
    sizing = answered("llama-3.1-8b", chip, engine=engine)
    if isinstance(sizing, HeterodyneError):
        assert engine not in accelerators()[chip].engines
        assert chip in sizing.message
        return
    plan = launch_plan(sizing, Site())
    assert engine in accelerators()[chip].engines
    assert all(isinstance(word, str) and word for word in plan.argv)
    assert sizing.layout.tp <= accelerators()[chip].fast_domain_chips


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("model", ["qwen3-30b-a3b", "llama-3.1-70b", "deepseek-v3"])
def test_large_models_get_a_plan_or_a_reason_on_every_chip(model: str, chip: str) -> None:
    sizing = answered(model, chip)
    if isinstance(sizing, HeterodyneError):
        assert chip in sizing.message
    else:
        assert sizing.sequences >= 1


def test_every_engine_kind_has_a_launcher() -> None:
    assert set(LAUNCHERS) == set(EngineKind)


@pytest.mark.parametrize("chip", CHIPS)
def test_every_chip_has_a_platform_and_a_host(chip: str) -> None:
    assert platform_of(accelerators()[chip])
    assert host_of(accelerators()[chip]).widths


def test_a_chip_of_an_unknown_maker_is_refused_by_name() -> None:
    stranger = msgspec.structs.replace(accelerator("l4"), name="new1", vendor="newcomer", architecture="first")
    with pytest.raises(InvalidSpec, match="new1: no engine platform is known for vendor newcomer"):
        platform_of(stranger)


def test_no_width_given_takes_the_fewest_chips_that_hold_the_model() -> None:
    sizing = sized("llama-3.1-70b", "h100-sxm")
    assert sizing.layout.tp == 2
    assert "the fewest chips" in sizing.because("tp")
    assert sized("llama-3.1-70b", "h100-sxm", sequences=40).layout.tp == 4


def test_no_engine_given_takes_the_first_that_runs_on_the_chip() -> None:
    assert sized("llama-3.1-8b", "m4-max").layout.engine is EngineKind.LLAMACPP
    assert sized("llama-3.1-8b", "h100-sxm").layout.engine is EngineKind.VLLM


def test_what_does_not_fit_names_the_smallest_change() -> None:
    with pytest.raises(PlanImpossible, match=r"does not fit on 8 x h100-sxm .* keep the weights in fp8"):
        sized("llama-3.1-405b", "h100-sxm")


def test_more_sequences_than_fit_are_refused_with_the_number_that_does() -> None:
    held = sized("llama-3.1-8b", "h100-sxm", WorkloadClass.BACKGROUND).sequences
    with pytest.raises(PlanImpossible, match=f"serve {held} sequences at once instead of 400"):
        sized("llama-3.1-8b", "h100-sxm", sequences=400, tp=1)


def test_more_chips_than_a_node_holds_are_refused() -> None:
    with pytest.raises(PlanImpossible, match="tp: 16 x h100-sxm are more than one node, which holds 8"):
        sized("llama-3.1-70b", "h100-sxm", tp=16)


def test_more_chips_than_the_fast_link_joins_are_noted() -> None:
    notes = sized("llama-3.1-8b", "h100-pcie", tp=4).notes
    assert any("tp 4 would run over a slower one" in note for note in notes)


def test_a_tpu_host_gives_only_certain_numbers_of_chips() -> None:
    with pytest.raises(InvalidSpec, match="tpu-v6e in 1, 4, 8, not 2"):
        sized("llama-3.1-8b", "tpu-v6e", tp=2)


@pytest.mark.parametrize(
    ("wishes", "reason"),
    [
        ({"precision": Precision.FP32}, "precision: h100-sxm is not known to run weights in fp32"),
        ({"context_tokens": 200_000}, "context: llama-3.1-8b is made for 131072 tokens"),
        ({"sequences": 0}, "max-concurrency: 0 is not a whole number"),
        ({"kv_precision": Precision.INT4}, "kv-precision: vllm on h100-sxm keeps keys and values in bf16, fp16, fp8"),
        ({"precision": Precision.INT4}, "name a checkpoint in int4 with --weights"),
        ({"draft": model_spec("qwen3-0.6b")}, "draft-model: qwen3-0.6b has 151936 words and llama-3.1-8b 128256"),
        ({"weights": "/models/a.gguf"}, "/models/a.gguf is for llama.cpp"),
    ],
)
def test_bad_wishes_are_refused_with_a_reason(wishes: dict[str, object], reason: str) -> None:
    with pytest.raises(InvalidSpec) as refusal:
        sized("llama-3.1-8b", "h100-sxm", **wishes)
    assert reason in refusal.value.message


@pytest.mark.parametrize("workload", WorkloadClass)
@pytest.mark.parametrize(
    ("model", "chip"), [("llama-3.1-70b", "mi300x"), ("llama-3.1-8b", "l4"), ("qwen3-8b", "gaudi3")]
)
def test_sequences_keep_the_class_within_its_time_between_tokens(
    model: str, chip: str, workload: WorkloadClass
) -> None:
    sizing = sized(model, chip, workload)
    if sizing.sequences > 1:
        assert sizing.served.itl_s <= BUDGETS[workload].itl_s * 1.05


def test_patient_classes_run_more_sequences() -> None:
    interactive = sized("llama-3.1-70b", "mi300x", precision=Precision.FP8)
    background = sized("llama-3.1-70b", "mi300x", WorkloadClass.BACKGROUND, precision=Precision.FP8)
    assert interactive.sequences < background.sequences


def test_steps_are_large_enough_for_the_rate_that_is_promised() -> None:
    sizing = sized("llama-3.1-70b", "mi300x", precision=Precision.FP8, tp=2)
    assert sizing.carried is not None
    assert sizing.step_tokens > 256
    assert "256 would carry" in sizing.because("step_tokens")
    assert any(f"carries {sizing.carried.requests_per_s:.3g} usual requests/s" in note for note in sizing.notes)


def test_a_usual_context_shorter_than_the_longest_makes_room_for_more() -> None:
    strict = sized("llama-3.1-8b", "h100-sxm", WorkloadClass.BACKGROUND, context_tokens=65536)
    usual = sized("llama-3.1-8b", "h100-sxm", WorkloadClass.BACKGROUND, context_tokens=65536, usual_tokens=4096)
    assert usual.sequences > 8 * strict.sequences
    assert usual.context_tokens == 65536


def test_a_draft_takes_memory_from_the_sequences() -> None:
    alone = sized("llama-3.1-8b", "l4", WorkloadClass.BACKGROUND, precision=Precision.FP8)
    with pytest.raises(PlanImpossible, match="beside a draft model memory holds"):
        sized(
            "llama-3.1-8b",
            "l4",
            precision=Precision.FP8,
            tp=1,
            sequences=alone.sequences,
            draft=model_spec("llama-3.2-1b"),
        )
    drafted = sized(
        "llama-3.1-8b", "l4", WorkloadClass.BACKGROUND, precision=Precision.FP8, draft=model_spec("llama-3.2-1b")
    )
    assert drafted.sequences < alone.sequences
    assert any(note.startswith("the draft is not used") for note in drafted.notes)


def test_guessing_is_for_few_sequences_of_people_who_wait() -> None:
    few = sized("llama-3.1-70b", "h200-sxm", precision=Precision.FP8, sequences=4)
    assert few.guessing is not None
    assert few.guessing.kind is DraftKind.NGRAM
    assert sized("llama-3.1-70b", "h200-sxm", precision=Precision.FP8, sequences=64).guessing is None
    assert sized("llama-3.1-70b", "h200-sxm", WorkloadClass.BATCH, precision=Precision.FP8).guessing is None


def test_a_chip_of_several_ranks_counts_the_copies_of_its_heads() -> None:
    sizing = sized("llama-3.1-8b", "trainium2", WorkloadClass.BACKGROUND, tp=4)
    assert sizing.ranks == 16
    # Eight KV heads on sixteen ranks: every chip holds four of them, not its even share of two.
    each = kv_sequence_share_bytes(sizing.layout, sizing.usual_tokens) * 2
    assert sizing.sequences * each <= sizing.budget.kv_room_bytes


def test_vllm_on_rocm_is_told_everything_it_was_sized_with() -> None:
    sizing = sized("llama-3.1-70b", "mi300x", precision=Precision.FP8, tp=2)
    plan = launch_plan(sizing, Site())
    assert plan.argv[:3] == ("vllm", "serve", "meta-llama/Llama-3.1-70B-Instruct")
    assert value(plan, "--tensor-parallel-size") == "2"
    assert value(plan, "--max-num-seqs") == str(sizing.sequences)
    assert value(plan, "--max-num-batched-tokens") == str(sizing.step_tokens)
    assert value(plan, "--max-model-len") == "8192"
    assert value(plan, "--kv-cache-dtype") == "fp8"
    assert value(plan, "--quantization") == "fp8"
    assert value(plan, "--gpu-memory-utilization") == "0.92"
    assert {"VLLM_ROCM_USE_AITER": "1", "HIP_VISIBLE_DEVICES": "0,1"}.items() <= {
        one.name: one.value for one in plan.environment
    }.items()


def test_a_pod_leaves_the_choice_of_devices_to_the_cluster_and_listens_on_its_own_address() -> None:
    plan = launch_plan(sized("llama-3.1-8b", "mi300x"), POD)
    assert value(plan, "--host") == "0.0.0.0"
    assert "HIP_VISIBLE_DEVICES" not in {one.name for one in plan.environment}


def test_vllm_on_a_processor_sets_memory_aside_within_its_room() -> None:
    sizing = sized("llama-3.1-8b", "cpu-x86", WorkloadClass.BATCH)
    variables = {one.name: one.value for one in launch_plan(sizing, Site()).environment}
    assert sizing.budget.kv_bytes <= int(variables["VLLM_CPU_KVCACHE_SPACE"]) * 2**30 <= sizing.budget.kv_room_bytes
    assert "--gpu-memory-utilization" not in launch_plan(sizing, Site()).argv


def test_neuron_buckets_end_at_the_limits_and_ranks_are_cores() -> None:
    plan = planned("llama-3.1-8b", "trainium2")
    buckets = json.loads(value(plan, "--additional-config"))["neuron_config"]
    assert buckets["num_seqs_buckets"][-1] == int(value(plan, "--max-num-seqs"))
    assert buckets["num_batched_tokens_buckets"][-1] == int(value(plan, "--max-num-batched-tokens"))
    assert value(plan, "--tensor-parallel-size") == "4"


def test_sglang_measures_itself_and_drafts_with_a_model() -> None:
    plan = planned(
        "llama-3.1-70b",
        "h200-sxm",
        engine=EngineKind.SGLANG,
        precision=Precision.FP8,
        sequences=4,
        draft=model_spec("llama-3.2-1b"),
    )
    assert plan.program == ("python3", "-m", "sglang.launch_server")
    assert "--enable-metrics" in plan.argv
    assert value(plan, "--kv-cache-dtype") == "fp8_e4m3"
    assert value(plan, "--speculative-algorithm") == "STANDALONE"
    assert value(plan, "--speculative-draft-model-path") == "meta-llama/Llama-3.2-1B-Instruct"


def test_tensorrt_llm_reads_the_file_that_is_written_beside_it() -> None:
    import yaml

    plan = planned(
        "llama-3.1-8b", "h100-sxm", engine=EngineKind.TENSORRT_LLM, precision=Precision.FP8, weights="nvidia/x-FP8"
    )
    assert value(plan, "--extra_llm_api_options") == "./tensorrt-llm.yaml"
    options = yaml.safe_load(plan.files["tensorrt-llm.yaml"])
    assert options["kv_cache_config"] == {
        "enable_block_reuse": True,
        "free_gpu_memory_fraction": 0.9,
        "dtype": "fp8",
    }
    assert options["return_perf_metrics"] is True
    assert plan.metrics_path == "/prometheus/metrics"


def test_llamacpp_shares_one_context_among_its_slots() -> None:
    plan = planned("llama-3.1-8b", "m4-max", precision=Precision.INT4, sequences=3)
    assert value(plan, "--ctx-size") == str(3 * 8192)
    assert value(plan, "--parallel") == "3"
    assert "--kv-unified" not in plan.argv
    short = planned("llama-3.1-8b", "m4-max", precision=Precision.INT4, sequences=3, usual_tokens=4096)
    assert value(short, "--ctx-size") == str(3 * 4096)
    assert "--kv-unified" in short.argv


def test_llamacpp_counts_the_scales_of_its_eight_bit_cache() -> None:
    sizing = sized(
        "llama-3.1-8b", "m4-max", WorkloadClass.BACKGROUND, precision=Precision.INT4, kv_precision=Precision.INT8
    )
    each = kv_sequence_share_bytes(sizing.layout, sizing.usual_tokens) * 34 / 32
    assert sizing.sequences * each <= sizing.budget.kv_room_bytes
    assert value(launch_plan(sizing, Site()), "--cache-type-k") == "q8_0"


@pytest.mark.parametrize("chip", ["h100-sxm", "mi300x", "tpu-v6e", "gaudi3", "trainium2", "cpu-x86", "m4-max"])
def test_nothing_dangerous_is_ever_switched_on(chip: str) -> None:
    plan = planned("llama-3.1-8b", chip)
    words = " ".join((*plan.argv, *(one.name for one in plan.environment)))
    for danger in ("trust-remote-code", "trust_remote_code", "DEV_MODE", "--api-key", "0.0.0.0"):
        assert danger not in words


def test_the_script_hands_every_word_over_unharmed() -> None:
    place = '/models/it\'s a $HOME `trap`; "x" #1'
    plan = planned("llama-3.1-70b", "h200-sxm", precision=Precision.FP8, weights=place, sequences=4)
    assert place in plan.argv
    shown = script(plan).replace('exec "${command[@]}"', 'printf "%s\\0" "${command[@]}"')
    printed = subprocess.run(["bash", "-c", shown], capture_output=True, check=True, text=True).stdout
    assert tuple(printed.split("\0")[:-1]) == plan.argv
    assert shlex.split(shlex.join(plan.argv)) == list(plan.argv)


def test_every_flag_that_was_derived_says_why() -> None:
    plan = planned("llama-3.1-8b", "h100-sxm")
    silent = [flag.words[0] for flag in plan.flags if not flag.because]
    assert silent == ["--host", "--port"]


@pytest.mark.parametrize(
    ("name", "published"),
    [
        ("llama-3.1-70b", "meta-llama/Llama-3.1-70B-Instruct"),
        ("gemma-2-9b", "google/gemma-2-9b-it"),
        ("qwen3-8b", "Qwen/Qwen3-8B"),
        ("mine", None),
    ],
)
def test_a_model_is_loaded_from_where_its_makers_publish_it(name: str, published: str | None) -> None:
    assert published_id(name) == published


@pytest.mark.parametrize(
    ("engine", "words"),
    [
        (EngineKind.VLLM, ("--enable-expert-parallel",)),
        (EngineKind.SGLANG, ("--ep-size", "8")),
        (EngineKind.TENSORRT_LLM, ("--ep_size", "8")),
    ],
)
def test_experts_dealt_whole_are_said_in_the_words_of_the_engine(engine: EngineKind, words: tuple[str, ...]) -> None:
    sizing = msgspec.structs.replace(sized("deepseek-v3", "h200-sxm", engine=engine, tp=8), is_expert_parallel=True)
    assert words in [flag.words for flag in launch_plan(sizing, Site()).flags]
