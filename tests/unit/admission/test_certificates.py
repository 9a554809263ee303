"""Which key the names of a certificate stand for."""

import pytest

from heterodyne.admission.certificates import CertificateRules

RULES = CertificateRules(
    {
        "spiffe://prod/*": "all",
        "spiffe://prod/search/*": "search",
        "spiffe://prod/search/api": "api",
        "billing.example": "billing",
    },
    is_required=False,
)


@pytest.mark.parametrize(
    ("names", "key"),
    [
        (("spiffe://prod/search/api",), "api"),
        (("spiffe://prod/search/web",), "search"),
        (("spiffe://prod/other",), "all"),
        (("spiffe://test/search/api",), None),
        (("billing.example",), "billing"),
        (("x.billing.example",), None),
        (("spiffe://prod/search/web", "billing.example"), "billing"),
        ((), None),
    ],
)
def test_whole_names_count_before_beginnings_and_longer_ones_before_shorter(
    names: tuple[str, ...], key: str | None
) -> None:
    assert RULES.key_of(names) == key
