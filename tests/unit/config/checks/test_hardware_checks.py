"""What settings must say about hardware."""

import msgspec

from heterodyne.config.checks import hardware_checks
from heterodyne.config.settings import Settings
from heterodyne.fleet.settings import PoolSettings
from heterodyne.physics.catalogue import accelerators
from heterodyne.physics.settings import PhysicsSettings


def builtins(chip: str) -> dict[str, object]:
    """The fields of a chip as a settings file would give them."""
    return {
        name: value
        for name, value in msgspec.to_builtins(accelerators()[chip]).items()
        if name not in ("name", "aliases", "sources")
    }


def found(hardware: str, described: dict[str, dict[str, object]] | None = None) -> list[str]:
    settings = Settings(
        pools={"p": PoolSettings(model="m", hardware=hardware)}, physics=PhysicsSettings(hardware=described or {})
    )
    return [str(problem) for problem in hardware_checks.hardware_is_known(settings, {})]


def test_hardware_of_the_catalogue_is_known_by_name_and_alias() -> None:
    assert found("h100-sxm") == found("H100") == found("mi300x") == []


def test_unknown_hardware_is_refused_with_the_nearest() -> None:
    (problem,) = found("mi300")
    assert problem.startswith('pools.p.hardware: no accelerator "mi300"; did you mean "mi300x"')


def test_hardware_described_in_the_settings_is_known_and_near() -> None:
    described = {"our-chip": builtins("l4"), "l40s": {"prices": []}}
    assert found("our-chip", described) == found("l40s", described) == []
    (problem,) = found("our-chp", described)
    assert problem.endswith('did you mean "our-chip"?')


def test_hardware_whose_description_is_refused_is_not_refused_a_second_time() -> None:
    assert found("our-chip", {"our-chip": {"memory_bytes": 1}}) == []
