"""Folders in SafeTensors are read as others write them, and refused with the file and the tensor where they are not."""

import json
import struct
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from heterodyne.domain.errors import OperatorError, WeightsCorrupt, WeightsUnavailable
from heterodyne.registry.tensors.checkpoint import open_checkpoint
from heterodyne.registry.tensors.checkpoint_writer import NewTensor, write_checkpoint
from heterodyne.registry.tensors.number_formats import from_float32, to_float32

NUMBERS = {
    "b": np.arange(6, dtype=np.float16).reshape(2, 3),
    "a": np.array([1.5, -2.0], np.float32),
    "none": np.empty((0, 4), np.float32),
}


def folder_with(tmp_path: Path, tensors: dict[str, np.ndarray]) -> Path:
    tmp_path.mkdir(exist_ok=True)
    save_file(tensors, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text("{}")
    return tmp_path


def written(folder: Path, **options: int) -> None:
    tensors = [
        NewTensor(
            name=name,
            dtype={"float32": "F32", "float16": "F16"}[values.dtype.name],
            shape=values.shape,
            make=lambda values=values: values,
        )
        for name, values in NUMBERS.items()
    ]
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    write_checkpoint(folder, tensors, **options)


def test_what_others_write_is_read(tmp_path: Path) -> None:
    checkpoint = open_checkpoint(folder_with(tmp_path, NUMBERS))
    assert set(checkpoint.names) == NUMBERS.keys()
    for name, values in NUMBERS.items():
        np.testing.assert_array_equal(checkpoint.stored(name), values)


def test_what_is_written_others_read(tmp_path: Path) -> None:
    written(tmp_path / "out")
    found = load_file(tmp_path / "out" / "model.safetensors")
    assert found.keys() == NUMBERS.keys()
    for name, values in NUMBERS.items():
        np.testing.assert_array_equal(found[name], values)


def test_large_models_have_shards_and_an_index(tmp_path: Path) -> None:
    written(tmp_path / "out", shard_bytes_max=12)
    shards = sorted(path.name for path in (tmp_path / "out").glob("*.safetensors"))
    assert shards == ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"]
    checkpoint = open_checkpoint(tmp_path / "out")
    assert len(checkpoint.files) == 2
    np.testing.assert_array_equal(checkpoint.stored("b"), NUMBERS["b"])


def test_the_same_tensors_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "other"):
        written(tmp_path / name)
    one, other = (tmp_path / name / "model.safetensors" for name in ("one", "other"))
    assert one.read_bytes() == other.read_bytes()


def test_bfloat16_rounds_to_the_nearest_and_to_even() -> None:
    values = np.array([1.0, 1.00390625, 1.01171875, -2.0, np.inf, np.nan, 1e-40], np.float32)
    there = to_float32(from_float32(values, "BF16"), "BF16")
    np.testing.assert_array_equal(there[:5], np.array([1.0, 1.0, 1.015625, -2.0, np.inf], np.float32))
    assert np.isnan(there[5])
    np.testing.assert_array_equal(from_float32(np.array([1e9], np.float32), "F16"), [65504])


def altered(content: bytes, **head: object) -> bytes:
    """The same numbers under another head."""
    (size,) = struct.unpack("<Q", content[:8])
    members = {**json.loads(content[8 : 8 + size]), **head}
    text = json.dumps({name: one for name, one in members.items() if one is not None}).encode()
    return struct.pack("<Q", len(text)) + text + content[8 + size :]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda content: content[:5], "first eight bytes"),
        (lambda content: content[:40], "was cut"),
        (lambda content: content[:-4], 'tensor "b"'),
        (lambda content: content + b"more", "4 B follow the last tensor"),
        (lambda content: altered(content, a={"dtype": "F32", "shape": [3], "data_offsets": [0, 8]}), 'tensor "a"'),
        (lambda content: altered(content, a=None, none=None), 'tensor "b"'),
        (lambda content: altered(content, a={"dtype": "F4", "shape": [2], "data_offsets": [0, 8]}), "stored as F4"),
        (lambda content: altered(content, a={"dtype": "F32"}), "not that of a SafeTensors file"),
        (lambda content: struct.pack("<Q", 4) + b"nope", "not that of a SafeTensors file"),
    ],
)
def test_a_file_that_was_cut_or_altered_is_refused(tmp_path: Path, change: object, words: str) -> None:
    path = folder_with(tmp_path, NUMBERS) / "model.safetensors"
    path.write_bytes(change(path.read_bytes()))  # type: ignore[operator]
    with pytest.raises(OperatorError, match=words) as caught:
        open_checkpoint(tmp_path)
    assert str(path) in str(caught.value)


def test_pickles_are_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "pytorch_model.bin").write_bytes(b"\x80\x04")
    with pytest.raises(WeightsUnavailable, match=r"pytorch_model.bin: is a pickle, which runs code"):
        open_checkpoint(tmp_path)


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(WeightsUnavailable, match=r"config.json: is not there"):
        open_checkpoint(tmp_path)
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(WeightsUnavailable, match=r"has no model.safetensors"):
        open_checkpoint(tmp_path)


@pytest.mark.parametrize(
    ("weight_map", "words"),
    [
        ({"a": "x.safetensors"}, "x.safetensors: is named in .* and is not there"),
        ({"a": "../x.safetensors"}, "is not a file beside it"),
        ({"a": "model.safetensors"}, 'has a tensor "b", which'),
        ({"c": "model.safetensors", **dict.fromkeys(NUMBERS, "model.safetensors")}, 'has no tensor "c"'),
    ],
)
def test_an_index_that_tells_otherwise_is_refused(tmp_path: Path, weight_map: dict[str, str], words: str) -> None:
    folder_with(tmp_path, NUMBERS)
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weight_map}))
    with pytest.raises((WeightsUnavailable, WeightsCorrupt), match=words):
        open_checkpoint(tmp_path)
