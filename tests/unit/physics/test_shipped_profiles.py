"""What an old measurement may answer for, and what it may not."""

import pytest

from heterodyne.physics.catalogue import accelerator
from heterodyne.physics.model_shapes import model_spec
from heterodyne.physics.precision import Precision
from heterodyne.physics.profile import Basis, ProfileMatch
from heterodyne.physics.profile_catalogue import profile_for, shipped_profiles

LLAMA = model_spec("llama-3.1-8b")


def found(chip: str, engine: str, precision: Precision = Precision.BF16) -> ProfileMatch:
    return profile_for(LLAMA, accelerator(chip), engine=engine, precision=precision, tp=1)


@pytest.mark.parametrize("chip", ["a100-40gb", "h100-sxm", "gh200", "mi250", "mi300x"])
def test_llamacpp_answers_from_rows_of_2024_and_says_so(chip) -> None:
    answer = found(chip, "llamacpp")
    assert answer.basis is Basis.CHIP
    assert answer.profile.key.engine_version == "2024"
    assert "2024" in answer.profile.source


def test_relatives_of_a_measured_chip_answer_for_llamacpp_and_strangers_do_not() -> None:
    assert found("a100-80gb", "llamacpp").basis is Basis.FAMILY
    assert found("m3-ultra", "llamacpp").basis is Basis.DATASHEET


@pytest.mark.parametrize("chip", ["a100-40gb", "gh200", "mi250", "mi300x"])
def test_engines_measured_since_do_not_answer_from_rows_of_2024(chip) -> None:
    assert found(chip, "vllm").basis is Basis.FAMILY
    assert found(chip, "vllm").profile.key.engine_version != "2024"


def test_rows_of_2024_speak_for_no_engine_at_large() -> None:
    old = [profile.key for profile in shipped_profiles() if profile.key.engine_version == "2024"]
    assert old
    assert all(key.engine == "llamacpp" and (key.chip or key.architecture) for key in old)
