"""Which profile answers, and what it says it rests on."""

import msgspec

from heterodyne.physics.catalogue import accelerator
from heterodyne.physics.model_shapes import model_spec
from heterodyne.physics.precision import Precision
from heterodyne.physics.prices import DATASHEET
from heterodyne.physics.profile import Basis, Profile, ProfileKey, find_profile
from heterodyne.physics.profile_catalogue import profile_for, shipped_profiles
from heterodyne.physics.split import Split
from heterodyne.physics.spread_catalogue import spreads_of

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


def test_the_same_model_is_nearer_than_all_and_another_model_does_not_speak() -> None:
    every, mine = measured(chip="h100-sxm"), measured(chip="h100-sxm", model="this")
    wanted = msgspec.structs.replace(WANTED, model="this")
    assert find_profile((every, mine), wanted).profile == mine
    assert find_profile((every, mine), msgspec.structs.replace(WANTED, model="that")).profile == every


def test_a_match_says_how_far_it_is_from_its_rows() -> None:
    def split(profile: Profile, *, vendor: str = "nvidia", version: str | None = None) -> Split:
        wanted = msgspec.structs.replace(WANTED, model="this", engine_version=version)
        return find_profile((profile,), wanted, vendor=vendor).split

    assert split(measured(chip="h100-sxm", model="this")) is Split.LAYOUT
    assert split(measured(chip="h100-sxm", model="this", engine_version="0.9"), version="0.18") is Split.VERSION
    assert split(measured(chip="h100-sxm")) is Split.MODEL
    assert split(msgspec.structs.replace(measured(chip="h100-sxm"), split=Split.CHIP)) is Split.CHIP
    family = msgspec.structs.replace(measured(), vendors=("nvidia",))
    assert split(family) is Split.CHIP
    assert split(family, vendor="amd") is Split.VENDOR
    assert find_profile((), WANTED, vendor="nvidia").split is Split.NOTHING
    assert find_profile((), WANTED, vendor="apple").split is Split.VENDOR
    assert find_profile((), WANTED, own=(measured(chip="h100-sxm"),)).split is Split.CALIBRATED


def test_every_shipped_profile_says_what_judged_it_and_every_match_has_a_range() -> None:
    for profile in shipped_profiles():
        assert profile.split in (Split.LAYOUT, Split.MODEL, Split.CHIP)
        assert profile.vendors
        assert profile.first_token.prompt >= 1.0  # no plan may take a prompt for free
    for split in Split:
        for has_experts in (False, True):
            spreads = spreads_of(split, has_experts=has_experts)
            assert spreads.rows > 0
            for spread in (spreads.itl, spreads.ttft):
                assert 0 < spread.low < spread.middle < spread.high


def test_other_makers_chips_are_ranged_wider_than_relatives() -> None:
    llama = model_spec("llama-3.1-70b")

    def high(chip: str) -> float:
        found = profile_for(llama, accelerator(chip), engine="vllm", precision=Precision.BF16, tp=4)
        return spreads_of(found.split, has_experts=False).itl.high

    assert high("mi300x") > 2 * high("gh200")


def test_an_operators_profile_that_says_little_loses_to_a_nearer_one() -> None:
    own, shipped = measured(), measured(chip="h100-sxm")
    assert find_profile((shipped,), WANTED, own=(own,)).profile == shipped
