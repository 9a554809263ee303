"""What [physics] of the settings changes in the commands that speak about hardware."""

import json
from pathlib import Path

import pytest

from heterodyne.physics.catalogue import accelerator
from heterodyne.physics.precision import Precision
from heterodyne.physics.prices import DATASHEET
from heterodyne.physics.profile import Profile, ProfileKey
from heterodyne.registry.profile_store import store_profile

OVERRIDES = """
[physics.hardware.l4]
power_w = 60.0
prices = [{ provider = "our contract", usd_per_hour = 0.11, day = "2026-11-01" }]

[physics.hardware.ours-1]
vendor = "us"
architecture = "ours"
memory_bytes = 48e9
memory_bytes_per_s = 1e12
flops = { bf16 = 1e14 }
achievable_flops = {}
link = { name = "wire", bytes_per_s = 1e9, pair_bytes_per_s = 1e9 }
fast_domain_chips = 1
engines = ["llamacpp"]
precisions = ["bf16"]
"""
CHIP = accelerator("cpu-arm")
MEASURED = Profile(
    key=ProfileKey(engine="llamacpp", chip=CHIP.name, precision=Precision.INT4, tp=1, has_experts=False),
    prices=DATASHEET,
    measured_points=10,
    source="ours",
)
ASK = ("plan", "hardware", "--model", "mistral-7b", "--precision", "int4", "--slo-ttft-ms", "60000", "--json")


def settings(text: str) -> None:
    Path("heterodyne.toml").write_text(text)


def choice(stdout: str, name: str) -> dict[str, object]:
    return next(one for one in json.loads(stdout)["choices"] if one["accelerator"] == name)


def test_show_says_which_numbers_come_from_the_settings(run) -> None:
    settings(OVERRIDES)
    text = run("hardware", "show", "l4").stdout
    assert ["power", "60", "W", "settings"] in [line.split() for line in text.splitlines()]
    assert "settings: [physics.hardware.l4] of your settings" in text
    assert ["our", "contract", "0.11", "on", "demand", "2026-11-01", "settings"] in [
        line.split() for line in text.splitlines()
    ]
    assert "settings" in json.loads(run("hardware", "show", "l4", "--json").stdout)["sources"]


def test_a_chip_of_the_settings_is_listed_shown_and_planned_with(run) -> None:
    settings(OVERRIDES)
    assert "ours-1" in run("hardware", "list").stdout
    assert run("hardware", "show", "ours-1").exit_code == 0
    asked = run("plan", "memory", "--model", "llama-3.1-8b", "--hardware", "ours-1", "--engine", "llamacpp")
    assert "Fits." in asked.stdout


def test_a_price_of_the_settings_is_planned_with(run) -> None:
    settings(OVERRIDES)
    found = choice(run(*ASK).stdout, "l4")
    assert found["price"]["provider"] == "our contract"


def test_a_measured_profile_answers_with_its_engine_and_says_whose_it_is(run, tmp_path: Path) -> None:
    store_profile(tmp_path / ".local" / "share" / "heterodyne" / "profiles.toml", MEASURED)
    found = choice(run(*ASK, env={"XDG_DATA_HOME": ""}).stdout, "cpu-arm")
    assert (found["engine"], found["basis"]) == ("llamacpp", "yours")


def test_named_files_of_profiles_take_the_place_of_the_default_one(run, tmp_path: Path) -> None:
    store_profile(tmp_path / "mine.toml", MEASURED)
    settings('[physics]\nprofiles = ["mine.toml"]')
    assert choice(run(*ASK).stdout, "cpu-arm")["basis"] == "yours"
    settings("[physics]\nprofiles = []")
    assert choice(run(*ASK).stdout, "cpu-arm")["basis"] != "yours"
    settings('[physics]\nprofiles = ["none.toml"]')
    result = run(*ASK)
    assert result.exit_code == 2
    assert "none.toml: no such file of profiles; `heterodyne calibrate` writes one" in result.stderr


@pytest.mark.parametrize("command", [("hardware", "list"), ("config", "check"), ASK])
def test_all_mistakes_are_listed_with_their_paths(run, command: tuple[str, ...]) -> None:
    settings("[gateway]\nport = -1\n[physics.hardware.l4]\npower_w = -60.0\nmemory_byte = 1\n[physics.hardware.x]\n")
    result = run(*command)
    assert result.exit_code == 2
    for line in (
        "gateway.port: expected an integer",
        "physics.hardware.l4.power_w: -60 is not above zero",
        'physics.hardware.l4.memory_byte: no field "memory_byte"; did you mean "memory_bytes"',
        "physics.hardware.x: Object missing required field",
    ):
        assert line in result.stderr


def test_show_prints_a_table_as_toml(run) -> None:
    settings("[physics.hardware.l4]\npower_w = 60.0\n")
    assert "{ l4 = { power_w = 60.0 } }" in run("config", "show").stdout


def test_a_variable_holds_a_table_as_json(run) -> None:
    result = run("hardware", "show", "l4", env={"HETERODYNE_PHYSICS__HARDWARE": '{"l4": {"power_w": 61}}'})
    assert "61 W" in result.stdout
    result = run("hardware", "list", env={"HETERODYNE_PHYSICS__HARDWARE": "much"})
    assert "physics.hardware: expected a table of tables, got other text" in result.stderr
