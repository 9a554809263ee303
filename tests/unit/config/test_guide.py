"""The mixed fleet of the guide to the settings is one that loads, and means what the guide says."""

import re
from pathlib import Path

from heterodyne.config.load import load
from heterodyne.domain.fleet import FleetSnapshot
from heterodyne.domain.price import Price
from heterodyne.supervisor.configured_replicas import model_rules, remote_replicas

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "configure.md"
MODEL = "llama-3.1-70b"


def fleet(folder: Path) -> FleetSnapshot:
    section = GUIDE.read_text(encoding="utf-8").partition("## Pools, models and hardware")[2]
    example = re.search(r"```toml\n(.*?)```", section, re.DOTALL)
    assert example is not None
    path = folder / "heterodyne.toml"
    path.write_text(example[1])
    settings = load(path, {"HOSTED_API_KEY": "k"}, {})
    return FleetSnapshot.of(1, remote_replicas(settings), model_rules(settings))


def test_two_kinds_of_hardware_serve_one_model_europe_first(tmp_path: Path) -> None:
    found = fleet(tmp_path)
    replicas = {one.id: one for one in found.by_model[MODEL]}
    assert {name: (one.hardware, one.tp, one.region) for name, one in replicas.items()} == {
        "h100-eu-0": ("h100-sxm", 4, "eu-west"),
        "h100-eu-1": ("h100-sxm", 4, "eu-west"),
        "mi300x-us-0": ("mi300x", 2, "us-east"),
    }
    assert found.tiers.get(replicas["h100-eu-0"].id, 0) < found.tiers[replicas["mi300x-us-0"].id]
    assert replicas["h100-eu-0"].price == Price(usd_per_hour=9.6)
    assert replicas["mi300x-us-0"].price.usd_per_hour is not None


def test_the_hosted_model_answers_in_its_place(tmp_path: Path) -> None:
    found = fleet(tmp_path)
    assert found.aliases == {"default": MODEL, "llama-70b": MODEL}
    (fallback,) = found.rules[MODEL].fallbacks
    (hosted,) = found.by_model[fallback]
    assert hosted.tls
    assert hosted.price.is_by_token
