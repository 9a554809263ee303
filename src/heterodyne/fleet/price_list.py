"""Reads a file of token prices in the form that LiteLLM publishes, `model_prices_and_context_window.json`.

Only the models that pools ask for are looked into. Prices of batches, priorities and other services are left out:
requests of ours are not sent that way.
"""

import re
from pathlib import Path
from typing import Any

import msgspec

from heterodyne.domain.errors import InvalidSpec
from heterodyne.domain.price import Price

FILE_BYTES_MAX = 32 * 1024 * 1024
TIERED = "tiered_pricing"  # prices by several lengths at once
FIELDS = {
    "input_cost_per_token": "usd_per_million_prompt_tokens",
    "output_cost_per_token": "usd_per_million_completion_tokens",
    "cache_read_input_token_cost": "usd_per_million_cached_tokens",
    "cache_creation_input_token_cost": "usd_per_million_cache_write_tokens",
}
LONG_FIELD = re.compile(r"(" + "|".join(FIELDS) + r")_above_(\d{1,6})k_tokens")
TOKEN_USD_MAX = 1.0  # more for one token is a slip of the unit
DIGITS = 9  # of a dollar for a million tokens; finer is the rounding of the file's tiny numbers

_decode = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_decode_entry = msgspec.json.Decoder(dict[str, Any]).decode


class PriceList:
    """The models of one file, each read when its price is asked for."""

    def __init__(self, entries: dict[str, msgspec.Raw]) -> None:
        self._entries = entries

    @property
    def models(self) -> tuple[str, ...]:
        return tuple(self._entries)

    def __contains__(self, model: str) -> bool:
        return model in self._entries

    def price(self, model: str) -> Price:
        """By the token; raises InvalidSpec with the path of what cannot be a price, or where there is none."""
        try:
            entry = _decode_entry(self._entries[model])
        except (ValueError, RecursionError) as error:
            raise InvalidSpec(f"{model}: expected a table of prices") from error
        if TIERED in entry:
            raise InvalidSpec(f"{model}.{TIERED}: prices of several lengths cannot be read; write the pool's own")
        found = _long(model, entry)
        found |= {ours: _usd(model, theirs, entry[theirs]) for theirs, ours in FIELDS.items() if theirs in entry}
        price = Price(**found)
        if not price.is_by_token:
            raise InvalidSpec(f"{model}: has no input_cost_per_token and no output_cost_per_token")
        return price


def read_price_list(path: Path) -> PriceList:
    """Raises InvalidSpec with why it cannot be read."""
    try:
        if not path.is_file():
            raise InvalidSpec(f'no file "{path}"')
        with path.open("rb") as file:
            content = file.read(FILE_BYTES_MAX + 1)
    except OSError as error:
        raise InvalidSpec(f'"{path}" cannot be read: {error.strerror}') from error
    if len(content) > FILE_BYTES_MAX:
        raise InvalidSpec(f'"{path}" is larger than {FILE_BYTES_MAX // 2**20} MiB')
    try:
        return PriceList(_decode(content))
    except (ValueError, RecursionError) as error:
        raise InvalidSpec(f'"{path}" is no JSON object of models: {error}') from error


def _long(model: str, entry: dict[str, Any]) -> dict[str, Any]:
    """What a long prompt has its request billed by, and from which length on."""
    found: dict[str, Any] = {}
    for field, value in entry.items():
        named = LONG_FIELD.fullmatch(field)
        if named is None:
            continue
        tokens = int(named[2]) * 1000
        if found.setdefault("long_prompt_tokens", tokens) != tokens:
            raise InvalidSpec(f"{model}.{field}: a second length of long prompts cannot be read; write the pool's own")
        found[f"long_{FIELDS[named[1]]}"] = _usd(model, field, value)
    return found


def _usd(model: str, field: str, value: object) -> float:
    """Of a million tokens."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= TOKEN_USD_MAX:
        raise InvalidSpec(f"{model}.{field}: expected dollars from 0 to 1, found {str(value)[:40]!r}")
    return round(value * 1e6, DIGITS)
