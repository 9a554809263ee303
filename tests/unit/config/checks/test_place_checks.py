"""What models say of where they may be served, one check at a time."""

import pytest

from heterodyne.config.checks import place_checks
from heterodyne.config.checks.catalogue import Check
from heterodyne.config.settings import Settings
from heterodyne.fleet.model_settings import ModelSettings
from heterodyne.fleet.settings import PoolSettings
from heterodyne.physics.settings import PhysicsSettings

LLAMA = "llama-3.1-70b"
POOLS = {
    "eu": PoolSettings(
        model=LLAMA, region="eu-west", hardware="H100", tp=4, engine="vllm", labels={"vendor": "nvidia", "tier": "gold"}
    ),
    "us": PoolSettings(model=LLAMA, region="us-east", hardware="mi300x", tp=2, labels={"vendor": "amd"}),
    "small": PoolSettings(model="qwen3-8b", region="us-east", labels={"vendor": "google"}),
}


def found(check: Check, model: ModelSettings, name: str = LLAMA, **physics: dict[str, object]) -> list[str]:
    settings = Settings(pools=POOLS, models={name: model}, physics=PhysicsSettings(hardware=physics))
    return [str(problem) for problem in check(settings, {})]


@pytest.mark.parametrize("field", ["regions_only", "regions_first"])
def test_a_region_that_no_pool_is_in_names_the_nearest(field: str) -> None:
    model = ModelSettings(**{field: ("us-east", "eu-wst", "moon")})
    assert found(place_checks.regions_have_pools, model) == [
        f'models."llama-3.1-70b".{field}[1]: no pool is in region "eu-wst"; did you mean "eu-west"?',
        f'models."llama-3.1-70b".{field}[2]: no pool is in region "moon"',
    ]


@pytest.mark.parametrize("field", ["prefer_hardware", "require_hardware"])
def test_a_chip_that_nobody_knows_names_the_nearest(field: str) -> None:
    model = ModelSettings(**{field: ("h200", "mi300")})
    (problem,) = found(place_checks.hardware_of_models_is_known, model)
    assert problem.startswith(f'models."llama-3.1-70b".{field}[1]: no accelerator "mi300"; did you mean "mi300x"')


def test_a_chip_whose_description_is_refused_is_not_refused_a_second_time() -> None:
    model = ModelSettings(prefer_hardware=("our-chip",))
    assert found(place_checks.hardware_of_models_is_known, model, **{"our-chip": {"memory_bytes": 1}}) == []


@pytest.mark.parametrize("field", ["prefer_labels", "require_labels"])
def test_a_label_that_no_pool_has_names_the_nearest(field: str) -> None:
    model = ModelSettings(**{field: {"vender": "nvidia", "vendor": "nvidai", "team": "search", "tier": "gold"}})
    assert found(place_checks.labels_have_pools, model) == [
        f'models."llama-3.1-70b".{field}.vender: no pool has a label "vender"; did you mean "vendor"?',
        f'models."llama-3.1-70b".{field}.vendor: no pool has "vendor" = "nvidai"; did you mean "nvidia"?',
        f'models."llama-3.1-70b".{field}.team: no pool has a label "team"',
    ]


def test_what_is_preferred_is_not_ruled_out_and_both_rules_are_named() -> None:
    model = ModelSettings(
        regions_only=("eu-west",),
        regions_first=("eu-west", "us-east"),
        require_hardware=("h100-sxm",),
        prefer_hardware=("H100", "mi300x"),
        require_labels={"vendor": "nvidia"},
        prefer_labels={"vendor": "amd", "tier": "gold"},
    )
    where = 'models."llama-3.1-70b"'
    assert found(place_checks.preferences_are_within_requirements, model) == [
        f'{where}.regions_first[1]: "us-east" is ruled out by {where}.regions_only; add it there, or do not prefer it',
        f'{where}.prefer_hardware[1]: "mi300x" is ruled out by {where}.require_hardware; '
        "add it there, or do not prefer it",
        f'{where}.prefer_labels.vendor: "amd" is ruled out by {where}.require_labels; '
        "add it there, or do not prefer it",
    ]
    assert found(place_checks.preferences_are_within_requirements, ModelSettings(prefer_hardware=("mi300x",))) == []


@pytest.mark.parametrize(
    ("model", "problem"),
    [
        (
            ModelSettings(regions_only=("eu-west",), pools=("us",)),
            ".regions_only: no pool is left to serve it: us is in us-east (regions_only)",
        ),
        (
            ModelSettings(require_hardware=("h200",)),
            ".require_hardware: no pool is left to serve it: eu runs on h100-sxm (require_hardware); "
            "us runs on mi300x (require_hardware)",
        ),
        (
            ModelSettings(require_memory_gib_min=400),
            ".require_memory_gib_min: no pool is left to serve it: eu has 316.72 GiB (require_memory_gib_min); "
            "us has 383.96 GiB (require_memory_gib_min)",
        ),
        (
            ModelSettings(regions_only=("us-east",), require_engines=("vllm",), require_labels={"tier": "gold"}),
            ": no pool is left to serve it: eu is in eu-west (regions_only); "
            'us runs openai (require_engines) and has no "tier" (require_labels)',
        ),
    ],
)
def test_rules_that_leave_no_pool_are_named_with_what_each_removes(model: ModelSettings, problem: str) -> None:
    assert found(place_checks.a_model_may_be_served_somewhere, model) == [f'models."llama-3.1-70b"{problem}']


def test_a_pool_that_does_not_say_its_hardware_meets_no_requirement_of_it() -> None:
    model = ModelSettings(require_hardware=("h100",), require_memory_gib_min=1)
    assert found(place_checks.a_model_may_be_served_somewhere, model, "qwen3-8b") == [
        "models.qwen3-8b: no pool is left to serve it: small does not say its hardware (require_hardware) and "
        "does not say its hardware (require_memory_gib_min)"
    ]


def test_rules_that_leave_one_pool_are_fine() -> None:
    for model in (
        ModelSettings(regions_only=("eu-west",)),
        ModelSettings(require_hardware=("h100",), require_engines=("vllm",), require_labels={"vendor": "nvidia"}),
        ModelSettings(require_memory_gib_min=350),
    ):
        assert found(place_checks.a_model_may_be_served_somewhere, model) == []
    settings = Settings(pools=POOLS, models={LLAMA: ModelSettings(require_memory_gib_min=350)})
    assert list(place_checks.allowed_pools(settings, LLAMA)) == ["us"]
