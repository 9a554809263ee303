"""A kubeconfig file as it is written for kubectl. Programs that it names to get tokens from are not run."""

import base64
import binascii
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from heterodyne.domain.errors import SettingsInvalid
from heterodyne.domain.tls_files import TlsFiles
from heterodyne.fleet.kubernetes.access import ClusterAccess
from heterodyne.wire.address import Address


class _Cluster(Struct, kw_only=True, rename="kebab"):
    server: str
    certificate_authority: str | None = None
    certificate_authority_data: str | None = None
    insecure_skip_tls_verify: bool = False


def _user_key(name: str) -> str:
    return "tokenFile" if name == "token_file" else name.replace("_", "-")


class _User(Struct, kw_only=True, rename=_user_key):
    token: str | None = None
    token_file: str | None = None
    client_certificate: str | None = None
    client_certificate_data: str | None = None
    client_key: str | None = None
    client_key_data: str | None = None
    exec: dict[str, Any] | None = None
    auth_provider: dict[str, Any] | None = None


class _Context(Struct, kw_only=True):
    cluster: str
    user: str = ""
    namespace: str = "default"


class _NamedCluster(Struct, kw_only=True):
    name: str
    cluster: _Cluster


class _NamedUser(Struct, kw_only=True):
    name: str
    user: _User | None = None


class _NamedContext(Struct, kw_only=True):
    name: str
    context: _Context


class _Kubeconfig(Struct, kw_only=True, rename={"current_context": "current-context"}):
    clusters: list[_NamedCluster]
    contexts: list[_NamedContext]
    users: list[_NamedUser] = []
    current_context: str = ""


def kubeconfig_access(path: Path, context: str | None, folder: Path) -> ClusterAccess:
    """By its current context, or a named one; raises `SettingsInvalid`.

    Certificates that stand in the file itself are put into `folder`, as TLS takes files.
    """
    config = _read(path)
    wanted = context or config.current_context
    found = next((one.context for one in config.contexts if one.name == wanted), None)
    if found is None:
        there = ", ".join(one.name for one in config.contexts) or "none"
        raise SettingsInvalid(f'{path}: no context "{wanted}"; there is {there}')
    cluster = next((one.cluster for one in config.clusters if one.name == found.cluster), None)
    if cluster is None:
        raise SettingsInvalid(f'{path}: context "{wanted}" names the cluster "{found.cluster}", which is not there')
    user = next((one.user for one in config.users if one.name == found.user), None) or _User()
    if cluster.insecure_skip_tls_verify:
        raise SettingsInvalid(
            f'{path}: cluster "{found.cluster}" says insecure-skip-tls-verify; name its certificate-authority instead'
        )
    if user.exec is not None or user.auth_provider is not None:
        raise SettingsInvalid(
            f'{path}: user "{found.user}" gets its token from a program, which is not run from here; '
            "give a token, a tokenFile or a client certificate"
        )
    return _access(path, cluster, user, found.namespace, folder)


def _access(path: Path, cluster: _Cluster, user: _User, namespace: str, folder: Path) -> ClusterAccess:
    server = urlsplit(cluster.server)
    if server.scheme not in ("http", "https") or not server.hostname:
        raise SettingsInvalid(f'{path}: server "{cluster.server}" is no http:// or https:// URL')
    is_tls = server.scheme == "https"
    files = TlsFiles(
        authorities=_file(path, folder, "ca.crt", cluster.certificate_authority, cluster.certificate_authority_data),
        certificate=_file(path, folder, "tls.crt", user.client_certificate, user.client_certificate_data),
        key=_file(path, folder, "tls.key", user.client_key, user.client_key_data),
    )
    try:
        token = user.token
        if token is None and user.token_file is not None:
            token = (path.parent / user.token_file).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsInvalid(f"{path}: tokenFile {user.token_file} cannot be read: {error}") from error
    return ClusterAccess(
        address=Address(server.hostname, server.port or (443 if is_tls else 80), is_tls, files if is_tls else None),
        namespace=namespace,
        token=token,
        base_path=server.path.rstrip("/"),
    )


def _read(path: Path) -> _Kubeconfig:
    try:
        return msgspec.convert(_mapping(path), _Kubeconfig)
    except OSError as error:
        raise SettingsInvalid(f"fleet.kubeconfig: {path} cannot be read: {error.strerror}") from error
    except msgspec.ValidationError as error:
        raise SettingsInvalid(f"{path}: not a kubeconfig: {error}") from error


def _mapping(path: Path) -> Mapping[str, Any]:
    text = path.read_bytes()
    try:
        import yaml  # noqa: PLC0415  # an extra; a kubeconfig in JSON, which is YAML, needs none
    except ImportError:
        try:
            return msgspec.json.decode(text, type=dict[str, Any])
        except msgspec.DecodeError as error:
            raise SettingsInvalid(
                f"{path} is read with PyYAML, which is not installed: pip install 'heterodyne[kubernetes]'"
            ) from error
    try:
        found = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise SettingsInvalid(f"{path}: not YAML: {error}") from error
    return found if isinstance(found, dict) else {}


def _file(path: Path, folder: Path, name: str, named: str | None, data: str | None) -> str | None:
    """The path of a file that is named, or of one with what stands in the kubeconfig; data win, as for kubectl."""
    if data is None:
        return None if named is None else str(path.parent / named)
    try:
        content = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise SettingsInvalid(f"{path}: {name} is not base64: {error}") from error
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    place = folder / name
    if not place.exists() or place.read_bytes() != content:
        beside = place.with_suffix(".new")
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(content)
        beside.replace(place)
    return str(place)
