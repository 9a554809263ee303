"""What is said of issuers before anybody brings a token of theirs."""

from pathlib import Path

from heterodyne.cli.doctor.finding import FindingState
from heterodyne.cli.doctor.issuers import issuers
from heterodyne.config.settings import Settings
from tests.support.issuers import trusted_issuer
from tests.support.threads import in_thread


def test_an_issuer_that_answers_is_good_and_one_that_is_not_who_it_should_be_is_named(tmp_path: Path) -> None:
    with in_thread(trusted_issuer(tmp_path)) as trusted:
        good, strange = trusted.settings(), trusted.settings(tls_authorities=None)
        other = trusted.settings(issuer_url=f"{trusted.issuer.url}/other")
        found = issuers(Settings(issuers={"good": good, "strange": strange, "other": other}))
        assert [(one.name, one.state) for one in found] == [
            ("issuers.good", FindingState.GOOD),
            ("issuers.strange", FindingState.WARNING),
            ("issuers.other", FindingState.WARNING),
        ]
        assert found[0].value == f"{trusted.issuer.url} tells 1 key"
        assert "certificate" in found[1].value
        assert "answered 404" in found[2].value


def test_without_issuers_nobody_is_asked() -> None:
    assert issuers(Settings()) == []
