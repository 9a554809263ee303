"""Eight bits and a scale for each row: the numbers are the nearest, and the clip is the one of least error."""

import numpy as np
import pytest

from heterodyne.registry.tensors.eight_bits import CLIPS, EIGHT_BITS, FLOATS, dequantised_rows, quantised_rows

FP8, INT8 = EIGHT_BITS["fp8"], EIGHT_BITS["int8"]


def test_the_floats_are_those_of_e4m3() -> None:
    known = {
        0x00: 0.0,
        0x01: 2.0**-9,
        0x07: 7 * 2.0**-9,
        0x08: 2.0**-6,
        0x38: 1.0,
        0x39: 1.125,
        0x7E: 448.0,
        0xB8: -1.0,
    }
    assert {number: float(FLOATS[number]) for number in known} == known
    assert np.isnan(FLOATS[[0x7F, 0xFF]]).all()


def test_every_float_of_eight_bits_is_itself_again() -> None:
    numbers = np.array([number for number in range(256) if number not in (0x7F, 0xFF)], np.uint8)
    np.testing.assert_array_equal(FP8.encode(FLOATS[numbers]), numbers)


def test_others_become_the_nearest_and_half_way_the_even_one() -> None:
    values = np.random.default_rng(1).uniform(-448, 448, 2000).astype(np.float32)
    found = FP8.decode(FP8.encode(values))
    finite = FLOATS[np.isfinite(FLOATS)]
    nearest = np.abs(finite[None, :] - values[:, None]).min(axis=1)
    np.testing.assert_array_equal(np.abs(found - values), nearest)
    # 1.0625 is between 1.0 (0x38) and 1.125 (0x39); 1.1875 between 1.125 and 1.25 (0x3A).
    assert FP8.encode(np.array([1.0625, 1.1875, -1.0625], np.float32)).tolist() == [0x38, 0x3A, 0xB8]


@pytest.mark.parametrize("kind", EIGHT_BITS.values(), ids=EIGHT_BITS)
def test_no_clip_has_a_smaller_error_than_the_one_taken(kind: object) -> None:
    values = np.random.default_rng(2).standard_t(3, (64, 96)).astype(np.float32)
    numbers, scales = quantised_rows(values, kind)  # type: ignore[arg-type]
    assert (numbers.shape, numbers.dtype, scales.shape, scales.dtype) == ((64, 96), np.uint8, (64, 1), np.float32)
    taken = np.square(dequantised_rows(numbers, kind, scales) - values, dtype=np.float64).sum(axis=1)  # type: ignore[arg-type]
    highest = np.abs(values).max(axis=1, keepdims=True)
    for clip in CLIPS:
        other = highest * np.float32(clip) / np.float32(kind.largest)  # type: ignore[attr-defined]
        limited = np.clip(values / other, -kind.largest, kind.largest)  # type: ignore[attr-defined]
        made = dequantised_rows(kind.encode(limited), kind, other)  # type: ignore[arg-type, attr-defined]
        assert (taken <= np.square(made - values, dtype=np.float64).sum(axis=1) * (1 + 1e-9)).all()


def test_a_large_value_that_does_not_matter_is_cut_off() -> None:
    values = np.linspace(-1, 1, 64, dtype=np.float32)[None, :].copy()
    values[0, 0] = 1.25
    importances = np.ones(64)
    importances[0] = 0.0
    (plain,), (weighed,) = (quantised_rows(values, INT8, given)[1] for given in (None, importances))
    assert weighed < plain
    assert plain == np.float32(1.25) / np.float32(127), "without importances every value counts"


def test_rows_of_zeros_stay_zeros() -> None:
    numbers, scales = quantised_rows(np.zeros((3, 8), np.float32), INT8)
    assert not dequantised_rows(numbers, INT8, scales).any()
    assert np.isfinite(scales).all()


def test_a_matrix_of_many_blocks_is_quantised_as_its_rows_are(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(3).standard_normal((10, 16)).astype(np.float32)
    whole = quantised_rows(values, INT8)
    monkeypatch.setattr("heterodyne.registry.tensors.eight_bits.BLOCK_NUMBERS", 48)
    for one, other in zip(whole, quantised_rows(values, INT8), strict=True):
        np.testing.assert_array_equal(one, other)
