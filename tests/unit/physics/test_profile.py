"""Which profile answers, and what it says it rests on."""

import msgspec

from heterodyne.physics.catalogue import accelerator
from heterodyne.physics.model_shapes import model_spec
from heterodyne.physics.precision import Precision
from heterodyne.physics.prices import DATASHEET
from heterodyne.physics.profile import Basis, Profile, ProfileKey, find_profile
from heterodyne.physics.profile_catalogue import profile_for, shipped_profiles

WANTED = ProfileKey(
    engine="vllm",
    engine_version="0.18",
    architecture="hopper",
    chip="h100-sxm",
    precision=Precision.FP8,
    tp=4,
    has_experts=False,
)
NOBODY = {name: None for name in ProfileKey.__struct_fields__ if name != "engine"}


def measured(**fields: object) -> Profile:
    return Profile(key=msgspec.structs.replace(WANTED, **{**NOBODY, **fields}), prices=DATASHEET)


def test_the_chip_answers_before_its_family_and_both_before_the_engine() -> None:
    chip, family, engine = measured(chip="h100-sxm"), measured(architecture="hopper"), measured()
    for known, best, basis in (
        ((engine, family, chip), chip, Basis.CHIP),
        ((engine, family), family, Basis.FAMILY),
        ((engine,), engine, Basis.FAMILY),
    ):
        found = find_profile(known, WANTED)
        assert (found.profile, found.basis) == (best, basis)


def test_nothing_measured_rests_on_the_datasheet() -> None:
    strangers = (measured(engine="sglang", chip="h100-sxm"), measured(chip="mi300x"), measured(tp=8))
    found = find_profile(strangers, WANTED)
    assert found.basis is Basis.DATASHEET
    assert found.profile.prices == DATASHEET


def test_the_same_version_is_nearer_than_all_and_all_nearer_than_another() -> None:
    same, every = measured(chip="h100-sxm", engine_version="0.18"), measured(chip="h100-sxm")
    other = measured(chip="h100-sxm", engine_version="0.9")
    assert find_profile((other, every, same), WANTED).profile == same
    assert find_profile((other, every), WANTED).profile == every
    assert find_profile((other,), WANTED).profile == other


def test_precision_and_tp_narrow_a_profile() -> None:
    wide, fp8, tp4 = (
        measured(chip="h100-sxm"),
        measured(chip="h100-sxm", precision=Precision.FP8),
        measured(chip="h100-sxm", precision=Precision.FP8, tp=4),
    )
    assert find_profile((wide, fp8, tp4), WANTED).profile == tp4
    assert find_profile((wide, fp8), WANTED).profile == fp8


def test_shipped_profiles_name_chips_of_the_catalogue_and_their_source() -> None:
    for profile in shipped_profiles():
        assert profile.key.chip is None or accelerator(profile.key.chip).name == profile.key.chip
        assert profile.source
        assert profile.measured_points > 0
        assert min(profile.prices.values()) > 0


def test_every_basis_can_be_reached_from_the_shipped_profiles() -> None:
    llama = model_spec("llama-3.1-70b")

    def basis(chip: str, engine: str) -> Basis:
        return profile_for(llama, accelerator(chip), engine=engine, precision=Precision.FP8, tp=4).basis

    assert basis("h200-sxm", "tensorrt-llm") is Basis.CHIP
    assert basis("gb200", "tensorrt-llm") is Basis.FAMILY
    assert basis("l4", "llamacpp") is Basis.DATASHEET


def test_an_operators_own_profile_wins_over_an_equally_near_one() -> None:
    llama, chip = model_spec("llama-3.1-70b"), accelerator("h200-sxm")
    shipped = profile_for(llama, chip, engine="tensorrt-llm", precision=Precision.FP8, tp=4).profile
    own = msgspec.structs.replace(shipped, source="ours")
    found = profile_for(llama, chip, engine="tensorrt-llm", precision=Precision.FP8, tp=4, measured=(own,))
    assert found.profile.source == "ours"


def test_an_operators_own_profile_wins_over_another_version_and_says_so() -> None:
    own = measured(chip="h100-sxm", engine_version="0.9", precision=Precision.FP8, has_experts=False, tp=4)
    shipped = measured(chip="h100-sxm", precision=Precision.FP8, has_experts=False)
    found = find_profile((shipped,), WANTED, own=(own,))
    assert (found.profile, found.basis) == (own, Basis.OWN)


def test_an_operators_profile_that_says_little_loses_to_a_nearer_one() -> None:
    own, shipped = measured(), measured(chip="h100-sxm")
    assert find_profile((shipped,), WANTED, own=(own,)).profile == shipped
