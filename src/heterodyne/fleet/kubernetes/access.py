"""Where a cluster's API is and who we are there: the service account of our pod, or what a kubeconfig says."""

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from heterodyne.domain.errors import SettingsInvalid
from heterodyne.domain.tls_files import TlsFiles
from heterodyne.wire.address import Address

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


class ClusterAccess(Struct, frozen=True, kw_only=True):
    """As of now: tokens are made anew within the hour, so it is read before every call."""

    address: Address
    namespace: str  # where none is named
    token: str | None = None  # None: a client certificate says who we are, or nobody asks
    base_path: str = ""


def service_account(environment: Mapping[str, str], folder: Path = SERVICE_ACCOUNT) -> ClusterAccess:
    """That of the pod we are; raises `SettingsInvalid` where this is no pod, or one without a token."""
    host = environment.get("KUBERNETES_SERVICE_HOST")
    if not host:
        raise SettingsInvalid(
            "fleet.kubeconfig: not set, and this is no pod of a cluster (KUBERNETES_SERVICE_HOST is not set); "
            "name the kubeconfig file"
        )
    try:
        token = (folder / "token").read_text(encoding="ascii").strip()
        namespace = (folder / "namespace").read_text(encoding="utf-8").strip()
    except OSError as error:
        raise SettingsInvalid(
            f"the service account's token cannot be read: {error}; the pod wants `automountServiceAccountToken: true`"
        ) from error
    port = int(environment.get("KUBERNETES_SERVICE_PORT", "443"))
    return ClusterAccess(
        address=Address(host, port, True, TlsFiles(authorities=str(folder / "ca.crt"))),
        namespace=namespace,
        token=token,
    )
