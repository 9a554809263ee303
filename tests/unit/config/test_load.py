"""Precedence, conversion of text, and where the file is looked for."""

import subprocess
import sys
from pathlib import Path

import pytest

from heterodyne.config.effective import effective
from heterodyne.config.layers import Origin
from heterodyne.config.load import load, resolve
from heterodyne.config.problems import SettingsProblems
from heterodyne.config.settings import Settings
from heterodyne.fleet.model_settings import ModelSettings
from heterodyne.registry.defaults import DEFAULT_POOLS

DIGESTS = ("a" * 64, "b" * 64)
MODEL_FILE = """
[pools.large]
model = "llama-3.1-70b"
urls = ["http://h:1"]
[pools.small]
model = "qwen3-8b"
urls = ["http://h:2"]
[models."llama-3.1-70b"]
aliases = ["big"]
fallbacks = ["qwen3-8b"]
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "heterodyne.toml"
    path.write_text(text)
    return path


def refused(path: Path | None, environment: dict[str, str], overrides: dict[str, str]) -> list[str]:
    with pytest.raises(SettingsProblems) as caught:
        load(path, environment, overrides)
    return str(caught.value).splitlines()


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")


def test_no_file_no_variables_and_no_flags_give_the_defaults() -> None:
    assert load(None, {}, {}) == Settings()


def test_a_flag_goes_before_the_environment_before_the_file_before_the_default(tmp_path: Path) -> None:
    path = written(tmp_path, "[gateway]\nport = 1\nworkers = 2\nheaders_max = 50\n")
    environment = {"HETERODYNE_GATEWAY__PORT": "2", "HETERODYNE_GATEWAY__WORKERS": "3"}

    resolved = resolve(path, environment, {"gateway.port": "3"})

    gateway = resolved.settings.gateway
    assert (gateway.port, gateway.workers, gateway.headers_max) == (3, 3, 50)
    origins = [resolved.origin(("gateway", name)) for name in ("port", "workers", "headers_max", "host")]
    assert origins == [Origin.FLAG, Origin.ENVIRONMENT, Origin.FILE, Origin.DEFAULT]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (",".join(DIGESTS), DIGESTS),
        (f" {DIGESTS[0]} , {DIGESTS[1]} ", DIGESTS),
        (f'["{DIGESTS[0]}"]', DIGESTS[:1]),
        ("", ()),
        ("[]", ()),
    ],
)
def test_lists_come_from_commas_or_json(text: str, expected: tuple[str, ...]) -> None:
    settings = load(None, {"HETERODYNE_ADMISSION__API_KEYS_SHA256": text}, {})
    assert settings.admission.api_keys_sha256 == expected


@pytest.mark.parametrize("text", ["null", ""])
def test_null_or_nothing_makes_an_optional_setting_absent(tmp_path: Path, text: str) -> None:
    path = written(tmp_path, '[registry]\ncache_dir = "/somewhere"\n')
    assert load(path, {"HETERODYNE_REGISTRY__CACHE_DIR": text}, {}).registry.cache_dir is None


def test_numbers_come_from_text() -> None:
    settings = load(None, {"HETERODYNE_GATEWAY__STALL_TIMEOUT_S": "1.5"}, {"pools.chat.context_tokens": "512"})
    assert settings.gateway.stall_timeout_s == 1.5
    assert settings.pools["chat"].context_tokens == 512


def test_an_integer_in_the_file_is_a_fine_number_of_seconds(tmp_path: Path) -> None:
    path = written(tmp_path, "[gateway]\nstall_timeout_s = 5\n")
    assert load(path, {}, {}).gateway.stall_timeout_s == 5.0


def test_a_flag_changes_one_field_of_a_default_pool() -> None:
    pools = load(None, {}, {"pools.chat.slots": "9"}).pools
    assert list(pools) == list(DEFAULT_POOLS)
    assert pools["chat"].slots == 9
    assert pools["chat"].weights == DEFAULT_POOLS["chat"].weights


def test_a_file_that_declares_pools_replaces_the_default_ones(tmp_path: Path) -> None:
    path = written(tmp_path, '[pools.big]\nmodel = "m"\nurls = ["http://h:1"]\n')
    assert list(load(path, {}, {}).pools) == ["big"]


def test_variables_alone_can_declare_a_pool_in_place_of_the_default_ones() -> None:
    environment = {"HETERODYNE_POOLS__BIG__MODEL": "m", "HETERODYNE_POOLS__BIG__URLS": "http://a:1,http://b:1"}
    pools = load(None, environment, {}).pools
    assert list(pools) == ["big"]
    assert pools["big"].urls == ("http://a:1", "http://b:1")


def test_a_variable_reaches_a_pool_with_capitals_and_dashes(tmp_path: Path) -> None:
    path = written(tmp_path, '[pools.Big-One]\nmodel = "m"\nurls = ["http://h:1"]\n')
    assert load(path, {"HETERODYNE_POOLS__BIG_ONE__SLOTS": "7"}, {}).pools["Big-One"].slots == 7


def test_models_have_sections_of_their_own(tmp_path: Path) -> None:
    path = written(tmp_path, MODEL_FILE)
    models = load(path, {}, {}).models
    assert models == {"llama-3.1-70b": ModelSettings(aliases=("big",), fallbacks=("qwen3-8b",))}


def test_the_default_pools_hold_beside_a_section_of_one_of_their_models(tmp_path: Path) -> None:
    settings = load(written(tmp_path, '[models.smollm2-135m]\naliases = ["small"]\n'), {}, {})
    assert list(settings.pools) == list(DEFAULT_POOLS)
    assert settings.models["smollm2-135m"].aliases == ("small",)


def test_a_variable_and_a_quoted_flag_reach_a_model_with_dots_in_its_name(tmp_path: Path) -> None:
    path = written(tmp_path, MODEL_FILE)
    environment = {"HETERODYNE_MODELS__LLAMA_3_1_70B__ALIASES": "large,huge"}
    resolved = resolve(path, environment, {'models."llama-3.1-70b".context_tokens': "4096"})
    model = resolved.settings.models["llama-3.1-70b"]
    assert (model.aliases, model.context_tokens, model.fallbacks) == (("large", "huge"), 4096, ("qwen3-8b",))
    origins = [resolved.origin(("models", "llama-3.1-70b", name)) for name in ("aliases", "context_tokens", "pools")]
    assert origins == [Origin.ENVIRONMENT, Origin.FLAG, Origin.DEFAULT]


@pytest.mark.parametrize(
    "text",
    ['labels = { team = "search", "cost.centre" = "7" }', '[pools.p.labels]\nteam = "search"\n"cost.centre" = "7"'],
)
def test_a_table_of_text_is_inline_or_a_section(tmp_path: Path, text: str) -> None:
    path = written(tmp_path, f'[pools.p]\nmodel = "m"\nurls = ["http://h:1"]\n{text}\n')
    assert load(path, {}, {}).pools["p"].labels == {"team": "search", "cost.centre": "7"}


def test_a_table_of_text_comes_from_json_in_variables_and_flags(tmp_path: Path) -> None:
    path = written(tmp_path, '[pools.p]\nmodel = "m"\nurls = ["http://h:1"]\nlabels = { a = "b" }\n')
    labels = '{"team": "search"}'
    assert load(path, {"HETERODYNE_POOLS__P__LABELS": labels}, {}).pools["p"].labels == {"team": "search"}
    assert load(path, {}, {"pools.p.labels": labels}).pools["p"].labels == {"team": "search"}


def test_what_holds_is_shown_of_every_pool_and_model(tmp_path: Path) -> None:
    rows = {row.path: row for row in effective(resolve(written(tmp_path, MODEL_FILE), {}, {}))}
    assert rows['models."llama-3.1-70b".aliases'].text == '["big"]'
    assert rows['models."llama-3.1-70b".aliases'].origin == "file"
    assert rows['models."llama-3.1-70b".pools'].text == "(absent)"
    assert rows["pools.small.labels"].text == "{}"
    assert rows["routing.retry_share"].origin == "default"


def test_the_file_in_the_folder_goes_before_the_one_at_home(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / ".config" / "heterodyne").mkdir(parents=True)
    written(home / ".config" / "heterodyne", "[gateway]\nport = 1\n")
    environment = {"HOME": str(home)}
    assert load(None, environment, {}).gateway.port == 1

    written(Path.cwd(), "[gateway]\nport = 2\n")
    assert load(None, environment, {}).gateway.port == 2


def test_heterodyne_config_names_the_file_unless_a_path_is_given(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    named = written(tmp_path / "a", "[gateway]\nport = 1\n")
    environment = {"HETERODYNE_CONFIG": str(named)}
    assert load(None, environment, {}).gateway.port == 1
    assert load(written(tmp_path, "[gateway]\nport = 2\n"), environment, {}).gateway.port == 2


def test_a_file_that_is_named_and_missing_is_refused(tmp_path: Path) -> None:
    (problem,) = refused(tmp_path / "nope.toml", {}, {})
    assert problem.startswith(f"{tmp_path}/nope.toml: no such file; `heterodyne config init")


@pytest.mark.parametrize(
    ("text", "line"), [("[gateway]\nport = = 1\n", 2), ("[gateway]\nport =", 2), ("a = [1,\n2", 2)]
)
def test_a_syntax_error_names_file_and_line(tmp_path: Path, text: str, line: int) -> None:
    path = written(tmp_path, text)
    (problem,) = refused(path, {}, {})
    assert problem.startswith(f"{path}:{line}: not TOML: ")


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "heterodyne.toml"
    path.write_bytes(b"\xff\xfe")
    (problem,) = refused(path, {}, {})
    assert "not UTF-8" in problem


def test_a_folder_in_place_of_a_file_is_refused(tmp_path: Path) -> None:
    (problem,) = refused(tmp_path, {}, {})
    assert problem.startswith(f"{tmp_path}: cannot be read")


def test_settings_are_read_without_numbers_and_logs() -> None:
    """Every command reads them: a library of 50 ms or more is loaded where something is set that needs it."""
    script = (
        "import sys\nfrom heterodyne.config.load import resolve\nresolve(None, {}, {})\n"
        "heavy = {'numpy', 'structlog', 'rich', 'highspy', 'prometheus_client'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
