"""Weight URIs are split, and mistakes are answered with the nearest good one."""

import pytest

from heterodyne.domain.errors import SettingsInvalid
from heterodyne.registry.sources.catalogue import SOURCES
from heterodyne.registry.uri import WeightUri, parse


def test_scheme_and_reference_are_split_at_the_first_colon() -> None:
    assert parse("pypi:a==1!b:c", SOURCES) == WeightUri(scheme="pypi", reference="a==1!b:c")
    assert parse("https://host/x", SOURCES) == WeightUri(scheme="https", reference="//host/x")


def test_unknown_scheme_names_the_nearest() -> None:
    with pytest.raises(SettingsInvalid, match=r'no source for "pipy:".*did you mean "pypi:"'):
        parse("pipy:a==1!b", SOURCES)


def test_far_off_scheme_lists_all() -> None:
    with pytest.raises(SettingsInvalid, match="use one of file:, hf:, https:, pypi:"):
        parse("s3://bucket/x", SOURCES)


@pytest.mark.parametrize("text", ["/models/x.gguf", "", "file:"])
def test_a_uri_without_both_parts_is_refused(text: str) -> None:
    with pytest.raises(SettingsInvalid):
        parse(text, SOURCES)


def test_every_source_carries_its_own_scheme() -> None:
    assert all(scheme == source.scheme for scheme, source in SOURCES.items())
