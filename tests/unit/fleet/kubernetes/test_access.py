"""Who we are in a cluster: by the account of our pod, or by a kubeconfig."""

import base64
import stat
from pathlib import Path
from typing import Any

import pytest
import yaml

from heterodyne.domain.errors import SettingsInvalid
from heterodyne.fleet.kubernetes.access import service_account
from heterodyne.fleet.kubernetes.kubeconfig import kubeconfig_access

POD = {"KUBERNETES_SERVICE_HOST": "10.96.0.1", "KUBERNETES_SERVICE_PORT": "443"}


def written(folder: Path, *, cluster: dict[str, Any] | None = None, user: dict[str, Any] | None = None) -> Path:
    path = folder / "config"
    said = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "prod",
        "contexts": [{"name": "prod", "context": {"cluster": "c", "user": "u", "namespace": "llm"}}],
        "clusters": [{"name": "c", "cluster": {"server": "https://api.example:6443/k8s", **(cluster or {})}}],
        "users": [{"name": "u", "user": {"token": "secret", **(user or {})}}],
    }
    path.write_text(yaml.safe_dump(said), encoding="utf-8")
    return path


def test_a_pod_is_its_service_account_and_its_token_is_read_anew(tmp_path: Path) -> None:
    for name, text in (("token", "one\n"), ("namespace", "llm"), ("ca.crt", "pem")):
        (tmp_path / name).write_text(text, encoding="ascii")
    access = service_account(POD, tmp_path)
    assert (access.address.authority, access.namespace, access.token) == ("10.96.0.1", "llm", "one")
    assert access.address.tls_files is not None
    assert access.address.tls_files.authorities == str(tmp_path / "ca.crt")
    (tmp_path / "token").write_text("two", encoding="ascii")
    assert service_account(POD, tmp_path).token == "two"


def test_what_is_no_pod_or_has_no_token_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(SettingsInvalid, match="name the kubeconfig file"):
        service_account({}, tmp_path)
    with pytest.raises(SettingsInvalid, match="automountServiceAccountToken"):
        service_account(POD, tmp_path)


def test_a_kubeconfig_is_read_and_its_certificates_become_private_files(tmp_path: Path) -> None:
    data = base64.b64encode(b"pem").decode()
    path = written(tmp_path, cluster={"certificate-authority-data": data}, user={"client-key-data": data})
    access = kubeconfig_access(path, None, tmp_path / "files")
    assert (access.address.host, access.address.port, access.base_path) == ("api.example", 6443, "/k8s")
    assert (access.namespace, access.token) == ("llm", "secret")
    files = access.address.tls_files
    assert files is not None
    assert files.authorities is not None
    assert files.key is not None
    assert Path(files.authorities).read_bytes() == b"pem"
    assert stat.S_IMODE(Path(files.key).stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"user": {"exec": {"command": "aws"}}}, "gets its token from a program"),
        ({"cluster": {"insecure-skip-tls-verify": True}}, "insecure-skip-tls-verify"),
        ({"cluster": {"server": "ftp://x"}}, "no http:// or https:// URL"),
        ({"cluster": {"certificate-authority-data": "?"}}, "not base64"),
        ({"user": {"token": None, "tokenFile": "nowhere"}}, "tokenFile nowhere cannot be read"),
    ],
)
def test_what_cannot_be_used_is_named(tmp_path: Path, change: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingsInvalid, match=words):
        kubeconfig_access(written(tmp_path, **change), None, tmp_path)


def test_a_context_that_is_not_there_is_told_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(SettingsInvalid, match='no context "test"; there is prod'):
        kubeconfig_access(written(tmp_path), "test", tmp_path)
    broken = tmp_path / "broken"
    broken.write_text("- 1", encoding="ascii")
    with pytest.raises(SettingsInvalid, match="not a kubeconfig"):
        kubeconfig_access(broken, None, tmp_path)
