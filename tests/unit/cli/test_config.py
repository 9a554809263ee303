"""`config init`, `check` and `show`."""

import json
from pathlib import Path


def test_init_writes_a_file_that_check_accepts(run) -> None:
    written = run("config", "init")
    assert written.exit_code == 0
    assert written.stdout == "heterodyne.toml\n"
    checked = run("config", "check")
    assert checked.exit_code == 0
    assert checked.stdout.startswith("heterodyne.toml: ")


def test_init_does_not_write_over_a_file_unless_forced(run, tmp_path: Path) -> None:
    path = tmp_path / "heterodyne.toml"
    path.write_text("mine")
    refused = run("config", "init")
    assert refused.exit_code == 1
    assert "--force" in refused.stderr
    assert path.read_text() == "mine"
    assert run("config", "init", "--force").exit_code == 0
    assert path.read_text() != "mine"


def test_init_makes_the_folders_it_needs(run, tmp_path: Path) -> None:
    assert run("config", "init", "a/b/c.toml").exit_code == 0
    assert (tmp_path / "a/b/c.toml").is_file()


def test_init_says_why_a_file_cannot_be_written(run, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = run("config", "init", "file/c.toml")
    assert result.exit_code == 1
    assert "cannot be written" in result.stderr


def test_check_lists_every_problem_and_exits_2(run, tmp_path: Path) -> None:
    (tmp_path / "heterodyne.toml").write_text("[gateway]\nprt = 1\nworkers = 0\n")
    result = run("config", "check")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert 'gateway.prt: no such setting; did you mean "port"?' in result.stderr
    assert "gateway.workers: expected" in result.stderr


def test_check_as_json_gives_the_same_verdict(run, tmp_path: Path) -> None:
    assert json.loads(run("config", "check", "--json").stdout) == {"valid": True, "file": None, "problems": []}
    (tmp_path / "heterodyne.toml").write_text("[gateway]\nprt = 1\n")
    result = run("config", "check", "--json")
    assert result.exit_code == 2
    verdict = json.loads(result.stdout)
    assert verdict["valid"] is False
    assert [problem["path"] for problem in verdict["problems"]] == ["gateway.prt"]


def test_show_tells_where_each_value_came_from(run, tmp_path: Path) -> None:
    (tmp_path / "heterodyne.toml").write_text("[gateway]\nworkers = 2\n")
    environment = {"HETERODYNE_GATEWAY__HEADERS_MAX": "50"}
    result = run("--set", "gateway.port=9000", "config", "show", "--json", env=environment)
    shown = json.loads(result.stdout)
    assert shown["file"] == "heterodyne.toml"
    settings = shown["settings"]
    assert settings["gateway.port"] == {"value": 9000, "from": "flag"}
    assert settings["gateway.headers_max"] == {"value": 50, "from": "env"}
    assert settings["gateway.workers"] == {"value": 2, "from": "file"}
    assert settings["gateway.host"] == {"value": "127.0.0.1", "from": "default"}
    assert settings["pools.chat.model"]["value"] == "smollm2-135m"


def test_show_as_text_has_a_line_per_setting(run) -> None:
    lines = run("config", "show").stdout.splitlines()
    assert ["gateway.port", "8080", "default"] in [line.split() for line in lines]
    assert ["gateway.tls_key", "(absent)", "default"] in [line.split() for line in lines]


def test_the_config_flag_names_the_file(run, tmp_path: Path) -> None:
    (tmp_path / "other.toml").write_text("[gateway]\nport = 7\n")
    result = run("--config", "other.toml", "config", "show", "--json")
    assert json.loads(result.stdout)["settings"]["gateway.port"] == {"value": 7, "from": "file"}


SECRETS = """
[stores]
url = "postgresql://ada:s3cret@db.example/books?sslmode=require"
redis_url = "rediss://:s3cret@cache.example:6379/0"

[telemetry]
traces_url = "https://collector.example/v1/traces?token=s3cret"

[alerts.webhooks.chat]
url = "https://hooks.example/services/T0/s3cret"

[pools.chat]
model = "m"
engine = "llamacpp"
weights = "https://u:s3cret@weights.example/m.gguf?X-Amz-Signature=s3cret"
weights_sha256 = "{digest}"
"""


def test_config_show_prints_no_password_inside_a_url(run, tmp_path: Path) -> None:
    (tmp_path / "heterodyne.toml").write_text(SECRETS.replace("{digest}", "0" * 64))
    as_table, as_json = run("config", "show"), run("config", "show", "--json")
    for result in (as_table, as_json, run("models", "list"), run("models", "list", "--json"), run("doctor")):
        assert "s3cret" not in result.stdout + result.stderr, result.stdout
    assert as_json.exit_code == 0, as_json.stderr
    held = {name: one["value"] for name, one in json.loads(as_json.stdout)["settings"].items()}
    assert held["stores.url"] == "postgresql://***@db.example/books?sslmode=require"
    assert held["stores.redis_url"] == "rediss://***@cache.example:6379/0"
    assert held["telemetry.traces_url"] == "https://collector.example/v1/traces?token=***"
    assert held["alerts.webhooks"]["chat"]["url"] == "https://hooks.example/***"
    assert held["pools.chat.weights"] == "https://***@weights.example/m.gguf?X-Amz-Signature=***"
