"""Lengths as written on the command line."""

from pathlib import Path
from random import Random
from statistics import fmean, median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heterodyne.bench.lengths import TOKENS_MAX, Fixed, Lognormal, Normal, Sampled, Uniform, parse_lengths
from heterodyne.domain.errors import SettingsInvalid


@pytest.mark.parametrize(
    ("text", "lengths"),
    [
        ("fixed:128", Fixed(tokens=128)),
        ("128", Fixed(tokens=128)),
        ("uniform:32:512", Uniform(tokens_min=32, tokens_max=512)),
        ("normal:256:64", Normal(mean_tokens=256, deviation_tokens=64)),
        ("lognormal:5:0.8", Lognormal(mu=5, sigma=0.8)),
    ],
)
def test_every_form_is_understood(text: str, lengths: object) -> None:
    assert parse_lengths(text) == lengths


@pytest.mark.parametrize(
    "text",
    ["", "fixed", "fixed:0", "fixed:x", "uniform:9:3", "normal:256", "lognormal:5:-1", "0", "fixed:nan", "nope:1"],
)
def test_a_bad_form_is_refused_with_the_good_ones(text: str) -> None:
    with pytest.raises(SettingsInvalid, match=r"uniform:32:512"):
        parse_lengths(text)


def test_a_file_gives_its_own_lengths(tmp_path: Path) -> None:
    path = tmp_path / "lengths.txt"
    path.write_text("12\n900\n12\n")
    lengths = parse_lengths(str(path))
    assert lengths == Sampled(tokens=(12, 900, 12))
    random = Random(1)
    assert {lengths.draw(random) for _ in range(100)} == {12, 900}


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "lengths.txt"
    path.write_text("\n")
    with pytest.raises(SettingsInvalid):
        parse_lengths(str(path))


@given(
    st.sampled_from(
        ["fixed:7", "uniform:1:9", "normal:10:1000", "lognormal:5:0.8", "lognormal:40:9", "lognormal:-9:2"]
    ),
    st.integers(),
)
def test_every_draw_is_a_length_an_engine_can_be_asked_for(text: str, seed: int) -> None:
    assert 1 <= parse_lengths(text).draw(Random(seed)) <= TOKENS_MAX


def test_draws_follow_their_distribution() -> None:
    random = Random(7)
    assert fmean(parse_lengths("uniform:100:200").draw(random) for _ in range(4000)) == pytest.approx(150, rel=0.03)
    assert fmean(parse_lengths("normal:256:64").draw(random) for _ in range(4000)) == pytest.approx(256, rel=0.03)
    # The median of a lognormal is exp(mu).
    assert median(parse_lengths("lognormal:5:0.8").draw(random) for _ in range(4000)) == pytest.approx(148, rel=0.06)
