"""The registry from the terminal: in, built, shown, vouched for, out again, with words where something is wrong."""

import json
from pathlib import Path

import pytest

from heterodyne.registry.conversion.safetensors_gguf import safetensors_to_gguf
from heterodyne.registry.parity.llamacpp_process import running_llamacpp
from tests.support.tiny_models import tiny_model

URL = "http://127.0.0.1:9"  # where nobody is


@pytest.fixture
def weights(run, tmp_path: Path) -> Path:
    """A GGUF, and settings with a registry of their own."""
    (tmp_path / "heterodyne.toml").write_text(
        f'[registry]\ncache_dir = "{tmp_path}/cache"\nmodels_dir = "{tmp_path}/models"\n'
        f'[stores]\nurl = "sqlite:{tmp_path}/h.db"\n'
        '[pools.here]\nmodel = "tiny"\nengine = "llamacpp"\nweights = "registry:tiny#q8_0"\n'
    )
    path = tmp_path / "tiny.gguf"
    safetensors_to_gguf(tiny_model(tmp_path / "source"), path, "q8_0")
    return path


def test_from_a_file_to_a_pool_and_back_to_a_file(run, weights: Path, tmp_path: Path) -> None:
    missing = run("models", "pull")
    assert missing.exit_code != 0
    assert 'the registry has no model "tiny"' in missing.stderr
    done = run("models", "import", f"file:{weights}", "--name", "tiny", "--licence", "MIT")
    assert done.exit_code == 0, done.stderr
    assert done.stdout.startswith("tiny@v1  ")
    for precision in ("q4_0", "q8_0"):
        made = run("models", "build", "tiny", "--format", "gguf", "--precision", precision)
        assert made.exit_code == 0, made.stderr
    assert "was there" in run("models", "build", "tiny@v1", "--format", "gguf", "--precision", "q8_0").stdout
    (listed,) = json.loads(run("models", "list", "--registry", "--json").stdout)
    assert (listed["version"]["licence"], len(listed["artifacts"])) == ("MIT", 4)
    assert "gguf q8_0, safetensors fp16, gguf q4_0, gguf q8_0" in run("models", "list", "--registry").stdout
    pulled = run("models", "pull")
    assert Path(pulled.stdout.strip()).name == "tiny.q8_0.gguf"
    shown = run("models", "show", "tiny").stdout
    assert "safetensors-to-gguf" in shown
    assert "family: llama" in shown
    out = run("models", "export", "tiny", str(tmp_path / "out"), "--format", "gguf", "--precision", "q4_0")
    assert out.exit_code == 0, out.stderr
    assert (tmp_path / "out" / "tiny.q4_0.gguf").is_file()


def test_a_version_in_use_stays_and_an_altered_one_is_noticed(run, weights: Path, tmp_path: Path) -> None:
    run("models", "import", f"file:{weights}", "--name", "tiny")
    used = run("models", "remove", "tiny@v1")
    assert used.exit_code != 0
    assert "the pool here refers to it" in used.stderr
    assert run("models", "verify").exit_code == 0
    blob = max((tmp_path / "models" / "blobs").rglob("*"), key=lambda path: path.stat().st_size)
    blob.chmod(0o644)
    blob.write_bytes(bytes(blob.stat().st_size))
    altered = run("models", "verify", "tiny")
    assert altered.exit_code == 1
    assert "its SHA-256 is" in altered.stdout
    assert "0 files" in run("models", "gc", "--dry-run").stdout


def test_a_registry_that_wants_signatures_serves_none_without(run, weights: Path, tmp_path: Path) -> None:
    run("models", "import", f"file:{weights}", "--name", "tiny")
    key = tmp_path / "key.pem"
    made = run("models", "sign", "--key", str(key), "--new-key")
    public = made.stdout.split()[-1]
    strict = ("--set", "registry.signatures_required=true", "--set", f'registry.trusted_keys=["{public}"]')
    refused = run(*strict, "models", "pull")
    assert refused.exit_code != 0
    assert "heterodyne models sign tiny@v1 --key FILE" in refused.stderr
    signed = run("models", "sign", "tiny", "--key", str(key), "--format", "gguf")
    assert "tiny@v1 gguf q8_0" in signed.stdout
    assert run(*strict, "models", "pull").exit_code == 0
    assert run("models", "sign", "--key", str(key), "--new-key").exit_code != 0, "a key is not written over"


def test_a_build_that_went_wrong_does_not_serve(run, weights: Path, tmp_path: Path) -> None:
    run("models", "import", f"file:{weights}", "--name", "tiny")
    nothing = run("parity", "tiny", "--precision", "q4_0")
    assert nothing.exit_code != 0
    assert "tiny@v1 has nothing to judge beside tiny@v1 safetensors fp16" in nothing.stderr
    run("models", "build", "tiny", "--format", "gguf", "--precision", "q8_0")
    strict = ("--set", "registry.parity_required=true")
    unjudged = run(*strict, "models", "pull")
    assert unjudged.exit_code != 0
    assert "does not serve before it is judged; judge it with `heterodyne parity tiny@v1`" in unjudged.stderr
    judged = run("parity", "tiny", "--format", "gguf", "--json")
    assert judged.exit_code == 0, judged.output
    assert [one["verdicts"][0]["run_by"] for one in json.loads(judged.stdout)] == ["llamacpp", "llamacpp"]
    assert run(*strict, "models", "pull").exit_code == 0
    shown = run("models", "show", "tiny").stdout
    assert "passed" in shown


def test_replicas_are_judged_as_they_serve(run, weights: Path, tmp_path: Path) -> None:
    run("models", "import", f"file:{weights}", "--name", "tiny")
    damaged = tmp_path / "damaged.gguf"
    safetensors_to_gguf(tiny_model(tmp_path / "other", seed=8), damaged, "q8_0")
    with running_llamacpp(weights) as sound_url, running_llamacpp(damaged) as damaged_url:
        served = {"sound": (sound_url, "llamacpp"), "damaged": (damaged_url, "llamacpp"), "hosted": (URL, "openai")}
        with (tmp_path / "heterodyne.toml").open("a") as settings:
            for name, (url, engine) in served.items():
                settings.write(f'[pools.{name}]\nmodel = "tiny"\nengine = "{engine}"\nurls = ["{url}"]\n')
                settings.write('precision = "int8"\n')
        passed = run("parity", "tiny", "--pool", "sound", "--json")
        assert passed.exit_code == 0, passed.output
        (judged,) = json.loads(passed.stdout)
        assert (judged["replica"]["url"], judged["verdict"]["run_by"]) == (sound_url, "llamacpp")
        both = run("parity", "tiny", "--pool", "sound", "--pool", "damaged")
        assert both.exit_code == 1
        assert f"damaged at {damaged_url}: KL " in both.stderr
        for pool, said in (
            ("here", "has no urls"),
            ("suond", 'no pool "suond"; did you mean "sound"'),
            ("hosted", "openai is not asked for log-probabilities"),
        ):
            refused = run("parity", "tiny", "--pool", pool)
            assert refused.exit_code == 2, refused.output
            assert said in refused.stderr


def test_a_file_converts_without_a_registry(run, weights: Path, tmp_path: Path) -> None:
    folder, back = tmp_path / "folder", tmp_path / "back.gguf"
    assert run("models", "convert", str(weights), str(folder)).exit_code == 0
    assert run("models", "convert", str(folder), str(back), "--precision", "q8_0").exit_code == 0
    assert back.stat().st_size == weights.stat().st_size
    again = run("models", "convert", str(folder), str(back))
    assert again.exit_code != 0
    assert "is there already" in again.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("build", "tiny", "--format", "tiff", "--precision", "q8_0"), '"tiff" is none of safetensors, gguf'),
        (("build", "none", "--format", "gguf", "--precision", "q8_0"), 'no model "none"'),
        (("show", "a b"), "NAME or NAME@VERSION"),
        (("import", "file:/nowhere.gguf", "--name", "x"), "no file /nowhere.gguf"),
        (("export", "tiny", "out", "--format", "gguf"), 'no model "tiny"'),
    ],
)
def test_what_is_wrong_is_said(run, weights: Path, words: tuple[str, ...], said: str) -> None:
    done = run("models", *words)
    assert done.exit_code != 0
    assert said in done.stderr
