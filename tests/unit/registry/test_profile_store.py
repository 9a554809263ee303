"""Files of profiles: what is written is read again, one key has one profile, and nothing is half-written."""

from pathlib import Path

import msgspec
import pytest

from heterodyne.domain.errors import InvalidSpec
from heterodyne.physics.precision import Precision
from heterodyne.physics.prices import DATASHEET
from heterodyne.physics.profile import FirstToken, Profile, ProfileKey
from heterodyne.registry.profile_store import default_profiles_file, read_profiles, store_profile

PROFILE = Profile(
    key=ProfileKey(engine="vllm", chip="h100-sxm", precision=Precision.FP8, tp=2, has_experts=False),
    prices=DATASHEET,
    first_token=FirstToken(fixed_s=0.031),
    measured_points=12,
    source='ours, "fast", 2026-11-15',
)


def test_a_profile_is_read_as_it_was_stored(tmp_path: Path) -> None:
    path = tmp_path / "new" / "profiles.toml"
    assert store_profile(path, PROFILE) is None
    assert read_profiles(path) == (PROFILE,)


def test_the_same_key_is_replaced_and_another_is_added(tmp_path: Path) -> None:
    path = tmp_path / "profiles.toml"
    wider = msgspec.structs.replace(PROFILE, key=msgspec.structs.replace(PROFILE.key, tp=4))
    newer = msgspec.structs.replace(PROFILE, source="again")
    assert [store_profile(path, one) for one in (PROFILE, wider, newer)] == [None, None, PROFILE]
    assert {one.source for one in read_profiles(path)} == {wider.source, "again"}
    assert len(read_profiles(path)) == 2


def test_nothing_but_the_file_and_its_lock_stays_behind(tmp_path: Path) -> None:
    store_profile(tmp_path / "profiles.toml", PROFILE)
    assert sorted(one.name for one in tmp_path.iterdir()) == [".profiles.toml.lock", "profiles.toml"]


def test_a_broken_file_is_left_alone_and_named(tmp_path: Path) -> None:
    path = tmp_path / "profiles.toml"
    path.write_text("profiles = 3")
    with pytest.raises(InvalidSpec, match=r"profiles\.toml: not a file of profiles: Expected `array`"):
        store_profile(path, PROFILE)
    assert path.read_text() == "profiles = 3"


@pytest.mark.parametrize("number", ["-1.0", "nan", "inf"])
def test_a_price_that_cannot_be_is_refused_with_its_path(tmp_path: Path, number: str) -> None:
    path = tmp_path / "profiles.toml"
    store_profile(path, PROFILE)
    path.write_text(path.read_text().replace("kv = 1.25", f"kv = {number}"))
    with pytest.raises(InvalidSpec, match=r"profiles\[0\]\.prices\.kv: -?\w+ is no price"):
        read_profiles(path)


@pytest.mark.parametrize("field", ["prices", "kv", "engine"])
def test_a_misspelt_field_is_refused_with_the_nearest(tmp_path: Path, field: str) -> None:
    path = tmp_path / "profiles.toml"
    store_profile(path, PROFILE)
    path.write_text(path.read_text().replace(f"{field} = ", f"{field}s = "))
    with pytest.raises(InvalidSpec, match=f'did you mean "{field}"'):
        read_profiles(path)


def test_a_missing_file_is_an_error_only_where_it_was_named(tmp_path: Path) -> None:
    assert read_profiles(tmp_path / "none.toml", is_required=False) == ()
    with pytest.raises(InvalidSpec, match="`heterodyne calibrate` writes one"):
        read_profiles(tmp_path / "none.toml")


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InvalidSpec, match="cannot be written"):
        store_profile(tmp_path / "file" / "profiles.toml", PROFILE)


def test_the_default_file_is_in_the_data_folder() -> None:
    assert default_profiles_file({"XDG_DATA_HOME": "/data"}) == Path("/data/heterodyne/profiles.toml")
