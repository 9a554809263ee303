"""The compose file: what it mounts is there, its settings are good, and each tool takes the file that is its own."""

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from heterodyne.cli.main import cli

FOLDER = Path(__file__).parents[2] / "deploy" / "compose"
COMPOSE: dict[str, Any] = yaml.safe_load((FOLDER / "compose.yaml").read_text(encoding="utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]


@pytest.mark.parametrize("name", SERVICES)
def test_what_a_service_mounts_is_there(name: str) -> None:
    for mount in SERVICES[name].get("volumes", ()):
        source, _, _ = mount.partition(":")
        if source.startswith("."):
            assert (FOLDER / source).exists(), mount
            assert mount.endswith(":ro"), mount
        else:
            assert source in COMPOSE["volumes"], mount


@pytest.mark.parametrize("name", SERVICES)
def test_an_image_is_of_one_version_or_built_here(name: str) -> None:
    service = SERVICES[name]
    if "build" in service:
        assert (FOLDER / service["build"]["context"] / service["build"]["dockerfile"]).is_file()
    else:
        assert re.fullmatch(r"docker\.io/[a-z]+/[a-z]+:v?\d+(\.\d+)*", service["image"])


def test_only_this_machine_reaches_the_ports() -> None:
    ports = [port for service in SERVICES.values() for port in service.get("ports", ())]
    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_no_password_is_written_down() -> None:
    text = (FOLDER / "compose.yaml").read_text(encoding="utf-8")
    said = re.findall(r"\w*PASSWORD: (.+)", text)
    assert said
    assert all(one.startswith("${") and ":?" in one for one in said)


def test_the_gateways_settings_are_good_and_where_the_image_looks(tmp_path: Path) -> None:
    command = SERVICES["gateway"]["command"]
    mounted = {mount.split(":")[1]: mount.split(":")[0] for mount in SERVICES["gateway"]["volumes"]}
    here = [str(FOLDER / mounted[one]) if one in mounted else one for one in command]
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path), "PGPASSWORD": "secret"}
    result = CliRunner().invoke(cli, [*here[:-1], "config", "check"], env=environment)
    assert (here[-1], result.exit_code) == ("serve", 0), result.output


def test_prometheus_takes_its_file(tmp_path: Path) -> None:
    path = shutil.which("promtool")
    if path is None:
        pytest.skip("promtool is not installed; Debian has it in the package `prometheus`")
    for mount in SERVICES["prometheus"]["volumes"]:
        source, _, target = mount.partition(":")
        if source.startswith("."):
            shutil.copy(FOLDER / source, tmp_path / Path(target.partition(":")[0]).name)
    done = subprocess.run(
        [path, "check", "config", str(tmp_path / "prometheus.yml")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
