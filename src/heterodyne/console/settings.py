"""Settings of the admin port."""

from typing import Annotated

from msgspec import Meta, Struct

from heterodyne.domain.tls_files import TlsFiles

KeyDigest = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]


class ConsoleSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the console and the admin API listen, and who may use them."""

    listens: Annotated[
        bool, Meta(description="Whether there is a console and an admin API; without one SIGHUP still reloads.")
    ] = True
    host: Annotated[
        str, Meta(description="Address to listen on. Anything but loopback needs `console.operator_keys_sha256`.")
    ] = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65535, description="Port to listen on; 0 takes a free one.")] = 8081
    host_names: Annotated[
        tuple[str, ...],
        Meta(description="Names besides loopback's that a keyless admin API answers to; with keys it answers to any."),
    ] = ()
    operator_keys_sha256: Annotated[
        tuple[KeyDigest, ...],
        Meta(description="SHA-256 digests (hex) of the operators' keys; empty means keyless, on loopback only."),
    ] = ()
    viewer_keys_sha256: Annotated[
        tuple[KeyDigest, ...],
        Meta(description="SHA-256 digests (hex) of keys that open everything to the eye and change nothing."),
    ] = ()
    tls_certificate: Annotated[
        str | None, Meta(description="PEM file with the certificate chain; serves HTTPS when set.")
    ] = None
    tls_key: Annotated[str | None, Meta(description="PEM file with the private key of `tls_certificate`.")] = None
    is_behind_tls: Annotated[
        bool,
        Meta(
            description="Whether browsers reach the console by https, through a proxy that ends TLS; session cookies "
            "are then sent by https alone."
        ),
    ] = False

    @property
    def tls_files(self) -> TlsFiles | None:
        """What it shows; None: it speaks no TLS itself."""
        if self.tls_certificate is None:
            return None
        return TlsFiles(certificate=self.tls_certificate, key=self.tls_key)

    @property
    def is_https(self) -> bool:
        """Whether browsers reach it by https alone."""
        return self.is_behind_tls or self.tls_certificate is not None
