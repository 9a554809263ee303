"""Headers for the collector out of the environment."""

import pytest

from heterodyne.telemetry.tracing.headers import read_headers


def test_pairs_are_read_and_values_decoded() -> None:
    found = read_headers("Authorization=Basic%20abc=, x-scope-orgid = team ,")
    assert found == {"authorization": "Basic abc=", "x-scope-orgid": "team"}
    assert read_headers("") == {}


@pytest.mark.parametrize("text", ["secret", "a=1,secret", "a b=secret", "=secret", "a=secret%0d%0ax: y", "a=%E2%82%AC"])
def test_what_is_no_header_is_refused_without_being_shown(text: str) -> None:
    with pytest.raises(ValueError, match="is not of the form key=value") as caught:
        read_headers(text)
    assert "secret" not in str(caught.value)
