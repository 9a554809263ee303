"""The hardware catalogue: complete, sourced, free of the traps the field falls into."""

import pytest

from heterodyne.domain.errors import InvalidSpec, UnknownName
from heterodyne.physics.catalogue import accelerator, accelerators, sources, with_overrides
from heterodyne.physics.precision import Precision

EVERY_CHIP = list(accelerators().values())


@pytest.mark.parametrize("chip", EVERY_CHIP, ids=lambda chip: chip.name)
def test_every_number_has_a_known_source(chip) -> None:
    numbers = {"memory_bytes", "memory_bytes_per_s", "flops", "link", "fast_domain_chips", "precisions", "engines"}
    numbers |= {"achievable_flops"} if chip.achievable_flops else set()
    numbers |= {"power_w"} if chip.power_w else set()
    assert set(chip.sources) == numbers
    keys = {key for listed in chip.sources.values() for key in listed.split(", ")}
    assert keys | {price.source for price in chip.prices} <= set(sources())


@pytest.mark.parametrize("chip", EVERY_CHIP, ids=lambda chip: chip.name)
def test_what_was_measured_is_no_more_than_the_datasheet(chip) -> None:
    for precision, rate in chip.achievable_flops.items():
        assert rate <= chip.flops[precision]
    assert chip.link.pair_bytes_per_s <= chip.link.bytes_per_s


def test_every_vendor_of_the_field_is_here() -> None:
    assert {"nvidia", "amd", "google", "aws", "intel", "apple", "arm"} <= {chip.vendor for chip in EVERY_CHIP}


def test_names_and_aliases_are_unambiguous() -> None:
    names = [name for chip in EVERY_CHIP for name in (chip.name, *chip.aliases)]
    assert len(names) == len(set(names))
    assert accelerator("H100").name == accelerator("h100_sxm").name == "h100-sxm"


def test_common_mistakes_are_not_repeated() -> None:
    assert accelerator("mi300x").memory_bytes < 200e9 * 1.074  # 256 GB is its successor
    assert accelerator("h100-sxm").link.bytes_per_s == 450e9  # 900 counts both directions
    assert Precision.FP8 not in accelerator("a100").flops
    assert accelerator("l40s").flops[Precision.FP8] == 733e12  # 1466 is sparse
    assert accelerator("b300").flops[Precision.INT8] < 200e12
    assert accelerator("mi300x").link.pair_bytes_per_s == 64e9
    assert accelerator("tpu-v6e").flops[Precision.FP8] == accelerator("tpu-v6e").flops[Precision.BF16]


def test_spot_and_host_apart_are_marked() -> None:
    prices = accelerator("h100-sxm").prices
    assert {price.provider for price in prices if price.is_spot} == {"aws", "nebius"}
    assert {price.provider for price in prices if price.is_accelerator_only} == {"gcp"}
    assert all(price.day == "2026-08-22" for price in prices)


def test_an_unknown_chip_names_the_nearest() -> None:
    with pytest.raises(UnknownName, match='no accelerator "h10"; did you mean "h100-sxm" or "h100-pcie"'):
        accelerator("h10")
    with pytest.raises(UnknownName, match="known: h100-sxm, "):
        accelerator("abacus")


def test_settings_may_replace_a_number_and_are_named_as_its_source() -> None:
    changed = with_overrides(accelerators(), {"l4": {"power_w": 60.0}})
    assert changed["l4"].power_w == 60.0
    assert changed["l4"].sources["power_w"] == "settings"
    assert changed["l4"].memory_bytes == accelerator("l4").memory_bytes
    assert accelerator("l4").power_w == 72.0


def test_settings_may_add_a_chip() -> None:
    ours = {
        "vendor": "us",
        "architecture": "ours",
        "memory_bytes": 1e9,
        "memory_bytes_per_s": 1e9,
        "flops": {"bf16": 1e12},
        "achievable_flops": {},
        "link": {"name": "wire", "bytes_per_s": 1e9, "pair_bytes_per_s": 1e9},
        "fast_domain_chips": 1,
    }
    assert accelerator("ours-1", with_overrides(accelerators(), {"ours-1": ours})).vendor == "us"


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"memory_bytes": -1.0}, r"accelerators\.l4\.memory_bytes: -1 is not above zero"),
        ({"flops": {"bf16": 0.0}}, r"accelerators\.l4\.flops\.bf16: 0 is not above zero"),
        ({"flops": {"bf17": 1.0}}, r"accelerators\.l4\.flops: Invalid enum value 'bf17'"),
        ({"memory_byte": 1.0}, r'accelerators\.l4\.memory_byte: no field "memory_byte"; did you mean "memory_bytes"'),
        ({"power_w": "much"}, r"accelerators\.l4\.power_w: Expected `float \| null`, got `str`$"),
    ],
)
def test_nonsense_in_settings_is_refused_with_its_path(fields, reason) -> None:
    with pytest.raises(InvalidSpec, match=reason):
        with_overrides(accelerators(), {"l4": fields})
