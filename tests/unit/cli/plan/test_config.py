"""`heterodyne plan config` as a person uses it."""

import json
import os
import tomllib
from pathlib import Path

import pytest
import yaml

from heterodyne.config.load import load
from heterodyne.domain.errors import InvalidSpec

ASK = ("plan", "config", "--model", "llama-3.1-70b", "--hardware", "mi300x", "--precision", "fp8", "--tp", "2")


def test_everything_is_printed_under_its_name(run) -> None:
    result = run(*ASK)
    assert result.exit_code == 0, result.stderr
    for name in ("launch.sh", "pool.toml", "kubernetes.yaml"):
        assert f"==> {name} <==" in result.stdout
    assert "--max-num-seqs" in result.stdout


@pytest.mark.parametrize(
    ("form", "start"), [("command", "#!/usr/bin/env bash"), ("pool", "# In a cluster"), ("kubernetes", "# Flags as in")]
)
def test_one_form_alone_is_printed_as_it_is(run, form: str, start: str) -> None:
    result = run(*ASK, "--format", form)
    assert result.stdout.startswith(start)
    assert "==>" not in result.stdout


def test_json_has_every_choice_with_its_reason(run) -> None:
    answer = json.loads(run(*ASK, "--json").stdout)
    assert answer["argv"][:2] == ["vllm", "serve"]
    reasons = {one["setting"]: one["because"] for one in answer["choices"]}
    assert {"engine", "tp", "kv_precision", "context", "sequences", "step_tokens", "guessing"} <= set(reasons)
    assert all(reasons.values())
    kinds = [one["kind"] for one in answer["manifests"]]
    assert kinds == ["PersistentVolumeClaim", "Deployment", "Service", "PodDisruptionBudget"]
    assert answer["predicted"]["served"]["itl_s"] <= 0.05
    assert set(answer["files"]) == {"launch.sh", "pool.toml", "kubernetes.yaml"}


@pytest.mark.parametrize(
    "words",
    [
        ("--hardware", "mi300x"),
        ("--hardware", "m4-max", "--context", "4096"),
        (
            "--hardware",
            "h100",
            "--engine",
            "tensorrt-llm",
            "--url",
            "http://10.0.0.1:8000",
            "--url",
            "http://10.0.0.2:8000",
        ),
    ],
)
def test_the_pool_is_what_our_own_settings_accept(run, tmp_path: Path, words: tuple[str, ...]) -> None:
    result = run("plan", "config", "--model", "llama-3.1-8b", *words, "--format", "pool")
    assert result.exit_code == 0, result.stderr
    file = tmp_path / "heterodyne.toml"
    file.write_text(result.stdout)
    (pool,) = load(file, {}, {}).pools.values()
    assert pool.model == "llama-3.1-8b"
    assert pool.context_tokens == (4096 if "4096" in words else 8192)
    assert pool.engine == ("llamacpp" if "m4-max" in words else "tensorrt-llm" if "tensorrt-llm" in words else "vllm")
    assert pool.hardware is not None
    assert pool.hardware.startswith(words[words.index("--hardware") + 1])
    assert len(pool.urls) == max(1, words.count("--url"))
    assert pool.engine_model == ("meta-llama/Llama-3.1-8B-Instruct" if "tensorrt-llm" in words else None)


def test_files_are_written_once_and_overwritten_only_by_force(run, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    ask = ("plan", "config", "--model", "llama-3.1-8b", "--hardware", "h100", "--engine", "tensorrt-llm")
    result = run(*ask, "--output-dir", str(folder))
    assert result.exit_code == 0, result.stderr
    assert result.stdout == ""
    assert sorted(path.name for path in folder.iterdir()) == [
        "kubernetes.yaml",
        "launch.sh",
        "pool.toml",
        "tensorrt-llm.yaml",
    ]
    assert os.access(folder / "launch.sh", os.X_OK)
    assert yaml.safe_load((folder / "tensorrt-llm.yaml").read_text())["enable_chunked_prefill"] is True
    (folder / "pool.toml").write_text("mine")
    again = run(*ask, "--output-dir", str(folder))
    assert again.exit_code == 2
    assert "exist already; name another folder, or say --force" in again.stderr
    assert (folder / "pool.toml").read_text() == "mine"
    assert run(*ask, "--output-dir", str(folder), "--force").exit_code == 0
    assert (folder / "pool.toml").read_text() != "mine"


def test_a_folder_that_cannot_be_is_a_clear_refusal(run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = run(*ASK, "--output-dir", str(tmp_path / "file" / "out"))
    assert result.exit_code == 2
    assert "cannot be written" in result.stderr


def test_what_does_not_fit_exits_with_1_and_a_change(run) -> None:
    result = run("plan", "config", "--model", "llama-3.1-405b", "--hardware", "h100")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "the smallest change that does: keep the weights in fp8" in result.stderr


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--hardware", "mi300x", "--engine", "tensorrt-llm"), 'mi300x: no engine "tensorrt-llm"; known: vllm, sglang'),
        (("--hardware", "mi300x", "--engine", "vlm"), 'no engine "vlm"; did you mean "vllm"'),
        (("--hardware", "mi300x", "--class", "interactiv"), 'no class "interactiv"; did you mean "interactive"'),
        (("--hardware", "mi300", "--class", "batch"), 'no accelerator "mi300"'),
        (("--hardware", "l4", "--context", "0"), "context: 0 is not a whole number above zero"),
    ],
)
def test_bad_input_is_wrong_usage_with_a_reason(run, words: tuple[str, ...], reason: str) -> None:
    result = run("plan", "config", "--model", "llama-3.1-8b", *words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert reason in result.stderr


def test_a_chip_without_clusters_gets_the_rest_and_a_note(run) -> None:
    result = run("plan", "config", "--model", "llama-3.1-8b", "--hardware", "m4-max")
    assert "# no manifests: m4-max" in result.stdout
    assert "==> kubernetes.yaml <==" not in result.stdout
    alone = run("plan", "config", "--model", "llama-3.1-8b", "--hardware", "m4-max", "--format", "kubernetes")
    assert alone.exit_code == 1


def test_a_folder_with_a_config_is_what_the_engine_loads(run, tmp_path: Path) -> None:
    config = {
        "model_type": "llama",
        "hidden_size": 4096,
        "intermediate_size": 14336,
        "max_position_embeddings": 8192,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "num_hidden_layers": 32,
        "vocab_size": 128256,
    }
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "config.json").write_text(json.dumps(config))
    answer = json.loads(run("plan", "config", "--model", "mine", "--hardware", "h100", "--json").stdout)
    assert answer["argv"][2] == str(tmp_path / "mine")


def test_an_id_is_loaded_as_it_was_written(run) -> None:
    result = run("plan", "config", "--model", "meta-llama/Llama-3.1-8B", "--hardware", "h100", "--json")
    assert json.loads(result.stdout)["argv"][2] == "meta-llama/Llama-3.1-8B"


def test_a_chip_is_what_the_settings_say_it_is(run, tmp_path: Path) -> None:
    ask = ("plan", "config", "--model", "llama-3.1-8b", "--hardware", "l4", "--class", "background", "--json")
    usual = json.loads(run(*ask).stdout)["per_chip"]["memory_bytes"]
    (tmp_path / "heterodyne.toml").write_text("[physics.hardware.l4]\nmemory_bytes = 48e9\n")
    assert json.loads(run(*ask).stdout)["per_chip"]["memory_bytes"] == 48e9 > usual


def test_files_are_all_written_or_none(tmp_path: Path) -> None:
    from heterodyne.cli.plan.config import write_files

    (tmp_path / "b").write_text("old")
    with pytest.raises(InvalidSpec):
        write_files(tmp_path, {"a": "new", "b": "new"}, is_forced=False)
    assert not (tmp_path / "a").exists()


def test_every_pool_of_a_planned_fleet_is_launched_and_routed_to(run, tmp_path: Path) -> None:
    fleet, folder = tmp_path / "fleet.toml", tmp_path / "launch"
    fleet.write_text(
        "[promise]\nttft_ms = 800\nitl_ms = 40\nrequests_per_s = 12\n"
        '[pools.big]\nmodel = "llama-3.1-70b"\nhardware = "h100-sxm"\ntp = 4\nprecision = "fp8"\nreplicas = 2\n'
        '[pools.small]\nmodel = "llama-3.1-70b"\nhardware = "mi300x"\nprecision = "fp8"\nprice_usd_per_hour = 1.5\n'
    )
    result = run("plan", "config", "--fleet", str(fleet), "--output-dir", str(folder))
    assert result.exit_code == 0, result.output
    assert "--tensor-parallel-size 4" in (folder / "big" / "launch.sh").read_text()
    assert "replicas: 2" in (folder / "big" / "kubernetes.yaml").read_text()
    settings = (folder / "settings.toml").read_text()
    assert '[models."llama-3.1-70b"]\nslo_ttft_ms = 800\nslo_itl_ms = 40' in settings
    assert set(tomllib.loads(settings)["pools"]) == {"big", "small"}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "--model and --hardware, or a fleet file"),
        (["--fleet", "FLEET"], "--output-dir"),
        (["--fleet", "FLEET", "--model", "llama-3.1-8b", "--output-dir", "out"], "leave --model and --hardware out"),
    ],
)
def test_a_launch_needs_one_of_both_ways_to_say_of_what(run, tmp_path: Path, words: list[str], says: str) -> None:
    fleet = tmp_path / "fleet.toml"
    fleet.write_text('[pools.a]\nmodel = "llama-3.1-8b"\nhardware = "h100-sxm"\n')
    result = run("plan", "config", *(str(fleet) if one == "FLEET" else one for one in words))
    assert result.exit_code == 2
    assert says in result.stderr


def test_a_replica_that_exchanges_kv_says_so_in_its_command_and_its_pool(run) -> None:
    ask = ("plan", "config", "--model", "llama-3.1-8b", "--hardware", "h100", "--kv-transfer", "nixl")
    result = run(*ask, "--role", "prefill")
    assert result.exit_code == 0, result.stderr
    assert '"kv_role": "kv_producer"' in result.stdout
    assert 'kv_transfer = "nixl"\nrole = "prefill"' in result.stdout
    refused = run("plan", "config", "--model", "llama-3.1-8b", "--hardware", "h100", "--role", "decode")
    assert refused.exit_code != 0
