"""A file of token prices is read as far as it is asked for, and what cannot be a price has its place named."""

import json
from pathlib import Path

import pytest

from heterodyne.domain.errors import InvalidSpec
from heterodyne.domain.price import Price
from heterodyne.fleet import price_list
from heterodyne.fleet.price_list import PriceList, read_price_list

SPEC = {"input_cost_per_token": "a number, if there is one"}  # the file's own description of an entry


def listed(tmp_path: Path, **models: object) -> PriceList:
    file = tmp_path / "prices.json"
    file.write_text(json.dumps({"sample_spec": SPEC, **models}))
    return read_price_list(file)


def test_a_model_has_every_price_we_know_a_name_for(tmp_path: Path) -> None:
    entry = {
        "input_cost_per_token": 1.1e-06,
        "output_cost_per_token": 8e-06,
        "cache_read_input_token_cost": 1.1e-07,
        "cache_creation_input_token_cost": 1.375e-06,
        "input_cost_per_token_above_200k_tokens": 2.2e-06,
        "output_cost_per_token_above_200k_tokens": 1.2e-05,
        "cache_read_input_token_cost_above_200k_tokens": 2.2e-07,
        "cache_creation_input_token_cost_above_200k_tokens": 2.75e-06,
        "input_cost_per_token_batches": 5.5e-07,
        "input_cost_per_token_above_200k_tokens_priority": 4e-06,
        "cache_creation_input_token_cost_above_1hr": 2e-06,
        "mode": "chat",
    }
    assert listed(tmp_path, m=entry).price("m") == Price(
        usd_per_million_prompt_tokens=1.1,
        usd_per_million_completion_tokens=8.0,
        usd_per_million_cached_tokens=0.11,
        usd_per_million_cache_write_tokens=1.375,
        long_prompt_tokens=200_000,
        long_usd_per_million_prompt_tokens=2.2,
        long_usd_per_million_completion_tokens=12.0,
        long_usd_per_million_cached_tokens=0.22,
        long_usd_per_million_cache_write_tokens=2.75,
    )


def test_models_that_are_not_asked_for_may_be_anything(tmp_path: Path) -> None:
    found = listed(tmp_path, m={"input_cost_per_token": 1e-06}, other=[1, 2])
    assert found.price("m") == Price(usd_per_million_prompt_tokens=1.0)
    assert "other" in found
    assert "another" not in found


@pytest.mark.parametrize("value", ["3e-06", -1e-06, None, True, [], {}, 10**400])
def test_what_cannot_be_a_price_is_named_by_its_path(tmp_path: Path, value: object) -> None:
    found = listed(tmp_path, m={"input_cost_per_token": 1e-06, "cache_read_input_token_cost": value})
    with pytest.raises(InvalidSpec, match=r"^m(\.cache_read_input_token_cost)?: expected "):
        found.price("m")


@pytest.mark.parametrize(
    ("entry", "complaint"),
    [
        ([], "m: expected a table of prices"),
        ({"output_cost_per_image": 0.04}, "m: has no input_cost_per_token"),
        ({"input_cost_per_token": 1e-6, "tiered_pricing": []}, "m.tiered_pricing: prices of several lengths"),
        (
            {"input_cost_per_token_above_128k_tokens": 1e-6, "output_cost_per_token_above_256k_tokens": 1e-6},
            "m.output_cost_per_token_above_256k_tokens: a second length",
        ),
    ],
)
def test_an_entry_that_we_cannot_bill_by_says_why(tmp_path: Path, entry: object, complaint: str) -> None:
    with pytest.raises(InvalidSpec) as raised:
        listed(tmp_path, m=entry).price("m")
    assert raised.value.message.startswith(complaint)


@pytest.mark.parametrize(("content", "complaint"), [(b"[]", "no JSON object"), (b"\xff{", "no JSON object")])
def test_a_file_that_is_no_price_list_is_refused(tmp_path: Path, content: bytes, complaint: str) -> None:
    file = tmp_path / "prices.json"
    file.write_bytes(content)
    with pytest.raises(InvalidSpec, match=complaint):
        read_price_list(file)


def test_a_file_is_read_up_to_a_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "prices.json"
    file.write_bytes(b"{}" + b" " * 2**20)
    monkeypatch.setattr(price_list, "FILE_BYTES_MAX", 2**20)
    with pytest.raises(InvalidSpec, match="larger than 1 MiB"):
        read_price_list(file)


def test_a_folder_or_nothing_is_no_file(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "gone.json"):
        with pytest.raises(InvalidSpec, match="no file"):
            read_price_list(path)
