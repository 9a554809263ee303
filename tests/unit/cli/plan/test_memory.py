"""`plan memory`: budgets, verdicts, and clear words for bad input."""

import json
from pathlib import Path

import pytest


def memory(run, *words: str):
    return run("plan", "memory", *words)


def test_a_model_that_fits_has_a_budget_and_limits(run) -> None:
    result = memory(run, "--model", "llama-3.1-70b", "--hardware", "h100-sxm", "--precision", "fp8", "--tp", "2")
    assert result.exit_code == 0, result.stderr
    assert "llama-3.1-70b in fp8 on 2 x h100-sxm, vllm, KV in bf16" in result.stdout
    assert "weights                33.83 GiB  43%" in result.stdout
    assert "Fits. At 8192 tokens 26 sequences fit at once" in result.stdout


def test_a_model_that_does_not_fit_names_the_smallest_change(run) -> None:
    result = memory(run, "--model", "meta-llama/Llama-3.1-70B-Instruct", "--hardware", "h100")
    assert result.exit_code == 1
    assert "Does not fit. The smallest change that does: keep the weights in int4." in result.stdout
    assert "Or split it over 2 chips (tp 2)." in result.stdout


def test_json_has_bytes_and_changes(run) -> None:
    result = memory(run, "--model", "llama-3.1-70b", "--hardware", "h100", "--json")
    answer = json.loads(result.stdout)
    assert (result.exit_code, answer["fits"], answer["per_chip"]["concurrency_max"]) == (1, False, 0)
    assert [change["kind"] for change in answer["changes"]] == ["precision", "tp", "hardware"]
    assert all(change["per_chip"]["free_bytes"] >= 0 for change in answer["changes"])


def test_a_model_comes_in_the_precision_its_makers_chose(run) -> None:
    answer = json.loads(memory(run, "--model", "gpt-oss-120b", "--hardware", "h200", "--json").stdout)
    assert (answer["precision"], answer["fits"]) == ("fp4", True)


def test_notes_go_to_stderr(run) -> None:
    result = memory(run, "--model", "deepseek-v3", "--hardware", "h200", "--tp", "8")
    assert "Note: deepseek-v3 has latent attention" in result.stderr
    assert "Note" not in result.stdout


@pytest.mark.parametrize("word", ["model", "model/config.json"])
def test_a_config_may_be_given_by_file_or_folder(run, tmp_path: Path, word: str) -> None:
    config = {
        "model_type": "llama",
        "hidden_size": 64,
        "intermediate_size": 128,
        "max_position_embeddings": 512,
        "num_attention_heads": 4,
        "num_hidden_layers": 2,
        "vocab_size": 100,
    }
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text(json.dumps(config))
    result = memory(run, "--model", word, "--hardware", "l4")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("model in bf16 on l4")
    assert "KV of 1 x 512 tokens" in result.stdout


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--model", "lama-3.1-8b", "--hardware", "l4"), 'no model "lama-3.1-8b"; did you mean "llama-3.1-8b"'),
        (("--model", "phi-4", "--hardware", "h1000"), 'no accelerator "h1000"; did you mean "h100-'),
        (("--model", "phi-4", "--hardware", "l4", "--precision", "fp9"), 'no precision "fp9"; did you mean "fp8"'),
        (("--model", "phi-4", "--hardware", "l4", "--engine", "vlm"), 'no engine "vlm"; did you mean "vllm"'),
        (("--model", "phi-4", "--hardware", "l4", "--tp", "0"), "tp: 0 is not a whole number above zero"),
        (("--model", "phi-4", "--hardware", "l4", "--context", "-5"), "context: -5 is not a whole number above zero"),
        (("--model", "phi-4", "--hardware", "l4", "--concurrency", "0"), "concurrency: 0 is not"),
        (("--model", "phi-4", "--hardware", "l4", "--memory-fraction", "2"), "memory fraction: 2 is not above 0"),
        (("--model", "gone.json", "--hardware", "l4"), "gone.json: cannot be read: No such file"),
    ],
)
def test_bad_input_is_wrong_usage_with_a_reason(run, words, reason) -> None:
    result = memory(run, *words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert reason in result.stderr


@pytest.mark.parametrize("content", [b"[]", b"{", b"\xff"])
def test_a_config_that_is_no_object_is_refused(run, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "config.json").write_bytes(content)
    result = memory(run, "--model", "config.json", "--hardware", "l4")
    assert result.exit_code == 2
    assert "config.json: not a JSON object" in result.stderr
