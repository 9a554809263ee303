"""What the files of TLS must be, and what goes with what."""

from pathlib import Path

from heterodyne.admission.settings import AdmissionSettings
from heterodyne.config.checks import catalogue, tls_checks
from heterodyne.config.settings import Settings
from heterodyne.fleet.settings import PoolSettings
from heterodyne.gateway.settings import GatewaySettings
from tests.support.certificates import Authority


def found(check: catalogue.Check, settings: Settings) -> list[str]:
    return [str(problem) for problem in check(settings, {})]


def test_a_certificate_and_its_key_come_together(tmp_path: Path) -> None:
    file = tmp_path / "x.pem"
    file.touch()
    for given, missing in (("tls_certificate", "tls_key"), ("tls_key", "tls_certificate")):
        settings = Settings(gateway=GatewaySettings(**{given: str(file)}))
        assert found(tls_checks.tls_is_whole, settings) == [
            f"gateway.{missing}: required, because gateway.{given} is set"
        ]
    whole = GatewaySettings(tls_certificate=str(file), tls_key=str(file))
    assert found(tls_checks.tls_is_whole, Settings(gateway=whole)) == []


def test_tls_files_must_exist() -> None:
    gateway = GatewaySettings(tls_certificate="/nope/a", tls_key="/nope/b")
    assert found(tls_checks.tls_is_whole, Settings(gateway=gateway)) == [
        'gateway.tls_certificate: no file "/nope/a"',
        'gateway.tls_key: no file "/nope/b"',
    ]


def test_files_that_nobody_could_be_shown_are_named(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    one, other = authority.issue("one", "a.example"), authority.issue("other", "a.example")
    torn = tmp_path / "torn.pem"
    torn.write_text("torn")

    def problems(certificate: Path, key: Path, **more: Path) -> list[str]:
        files = {name: str(file) for name, file in more.items()}
        gateway = GatewaySettings(tls_certificate=str(certificate), tls_key=str(key), **files)  # type: ignore[arg-type]
        return found(tls_checks.tls_files_are_fit, Settings(gateway=gateway))

    assert problems(one.certificate, one.key) == []
    (mismatch,) = problems(one.certificate, other.key)
    assert mismatch.startswith("gateway.tls_certificate: cannot be used: ")
    assert problems(torn, one.key) != []
    believed = {"tls_client_authorities": authority.file}
    assert problems(one.certificate, one.key, **believed, tls_client_revoked=authority.revoke()) == []
    (unfit,) = problems(one.certificate, one.key, tls_client_authorities=torn)
    assert unfit.startswith("gateway.tls_client_authorities: cannot be used: ")
    (unlisted,) = problems(one.certificate, one.key, **believed, tls_client_revoked=torn)
    assert unlisted.startswith("gateway.tls_client_revoked: cannot be used: ")
    (missing,) = problems(one.certificate, one.key, tls_client_authorities=Path("/nope"))
    assert missing == 'gateway.tls_client_authorities: no file "/nope"'


def test_client_certificates_need_somebody_who_vouches_for_them() -> None:
    required = GatewaySettings(tls_client_certificates="required", tls_client_revoked="r.pem")
    mapped = AdmissionSettings(certificates={"spiffe://prod/*": "key_1"})
    paths = [
        problem.split(":")[0]
        for problem in found(
            tls_checks.client_certificates_can_be_checked, Settings(gateway=required, admission=mapped)
        )
    ]
    assert paths == ["gateway.tls_client_revoked", "gateway.tls_client_certificates", "admission.certificates"]
    plain = Settings(gateway=GatewaySettings(tls_client_authorities="a.pem"))
    (problem,) = found(tls_checks.client_certificates_can_be_checked, plain)
    assert problem.startswith("gateway.tls_client_authorities: needs gateway.tls_certificate")


def test_the_files_of_a_pool_belong_together_and_are_for_somebody(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    ours = authority.issue("ours", "gateway.example")

    def problems(url: str = "https://engine:8000", **files: Path) -> list[str]:
        named = {name: str(file) for name, file in files.items()}
        pool = PoolSettings(model="chat", urls=(url,), **named)  # type: ignore[arg-type]
        return found(tls_checks.engines_can_be_called_over_tls, Settings(pools={"chat": pool}))

    assert problems(tls_authorities=authority.file, tls_certificate=ours.certificate, tls_key=ours.key) == []
    assert problems(tls_authorities=Path("/nope")) == ['pools.chat.tls_authorities: no file "/nope"']
    assert problems("http://engine:8000", tls_authorities=authority.file) == [
        "pools.chat.tls_authorities: none of the pool's urls is https"
    ]
    assert problems(tls_certificate=ours.certificate) == [
        "pools.chat.tls_certificate: tls_certificate and tls_key come together"
    ]
    (unfit,) = problems(tls_authorities=ours.key)
    assert unfit.startswith("pools.chat.tls_authorities: cannot be used: ")
