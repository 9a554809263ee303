"""Which names of a fleet are adapters, and of what."""

from heterodyne.domain.fleet import FleetSnapshot, ModelRule
from heterodyne.routing.no_replica import unknown_model
from tests.support.watches import replica


def test_adapters_belong_to_the_model_of_the_replicas_that_declare_them() -> None:
    fleet = FleetSnapshot.of(
        1,
        (
            replica(1, 0, model="base", adapters={"law": "/law"}),
            replica(2, 1, model="base", adapters={"code": "/code"}),
            replica(3, 2, model="other"),
        ),
    )
    assert fleet.adapters == {"law": "base", "code": "base"}


def test_a_model_or_an_alias_of_the_same_name_comes_first() -> None:
    brought = replica(1, 0, model="base", adapters={"other": None, "fast": None, "own": None})
    rules = {"base": ModelRule(aliases=("fast",))}
    fleet = FleetSnapshot.of(1, (brought, replica(2, 1, model="other")), rules)
    assert fleet.adapters == {"own": "base"}


def test_replicas_a_rule_excludes_bring_no_adapters() -> None:
    rules = {"base": ModelRule(regions_only=("eu",))}
    fleet = FleetSnapshot.of(1, (replica(1, model="base", region="us", adapters={"law": "/law"}),), rules)
    assert fleet.adapters == {}


def test_an_unknown_name_may_be_near_an_adapters() -> None:
    fleet = FleetSnapshot.of(1, (replica(1, model="base", adapters={"contracts": "/c"}),))
    assert "Did you mean 'contracts'?" in unknown_model("contract", fleet.names)


def test_a_name_means_a_model_by_its_own_by_an_alias_or_by_an_adapter() -> None:
    rules = {"base": ModelRule(aliases=("fast",)), "elsewhere": ModelRule(aliases=("away",))}
    fleet = FleetSnapshot.of(1, (replica(1, model="base", adapters={"law": "/law"}),), rules)
    assert [fleet.model_of(name) for name in ("base", "fast", "law", "away")] == ["base", "base", "base", "elsewhere"]
    assert [fleet.model_of(name) for name in ("made up", "", "BASE")] == ["", "", ""], "no label, no row"
    assert fleet.names == ("base", "fast", "away", "law")
