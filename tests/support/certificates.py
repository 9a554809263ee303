"""An authority that issues what trustme does not: SPIFFE ids, dates that are over, and lists of what was revoked."""

import datetime
import ssl
from collections.abc import Sequence
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from msgspec import Struct

DAY = datetime.timedelta(days=1)
PEM = serialization.Encoding.PEM


class Issued(Struct, frozen=True):
    """A certificate and its key, in files."""

    certificate: Path
    key: Path

    def outward(self, authority: "Authority") -> ssl.SSLContext:
        """A client that shows it, and believes the authority."""
        context = authority.believer()
        context.load_cert_chain(self.certificate, self.key)
        return context


class Authority:
    """Its files are in a folder: `authority.pem`, and `revoked.pem` as soon as it has listed anything."""

    def __init__(self, folder: Path, name: str = "authority") -> None:
        self._folder = folder
        self._name = name
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"{folder.name} {name}")])
        now = datetime.datetime.now(datetime.UTC)
        self._certificate = (
            _unsigned(self._subject, self._subject, self._key.public_key(), now - DAY, now + 30 * DAY)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(_usage(signs=True), critical=True)
            .sign(self._key, hashes.SHA256())
        )
        self.file = folder / f"{name}.pem"
        self.file.write_bytes(self._certificate.public_bytes(PEM))
        self.revoked_file = folder / f"{name}-revoked.pem"

    def believer(self) -> ssl.SSLContext:
        """A client that believes it, and nobody else."""
        return ssl.create_default_context(cafile=str(self.file))

    def issue(self, file: str, *names: str, days: float = 7.0, since_days: float = 1.0) -> Issued:
        """For names as they are written in a URL, an address or a SPIFFE id; `days` may be over already."""
        key = ec.generate_private_key(ec.SECP256R1())
        now = datetime.datetime.now(datetime.UTC)
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, file)])
        issued = (
            _unsigned(subject, self._subject, key.public_key(), now - since_days * DAY, now + days * DAY)
            .add_extension(x509.SubjectAlternativeName([_general(name) for name in names]), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        found = Issued(self._folder / f"{file}.pem", self._folder / f"{file}.key")
        found.key.write_bytes(key.private_bytes(PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
        found.certificate.write_bytes(issued.public_bytes(PEM))
        return found

    def revoke(self, revoked: Sequence[Issued] = ()) -> Path:
        """The list of all that are revoked, from now on."""
        now = datetime.datetime.now(datetime.UTC)
        listed = x509.CertificateRevocationListBuilder().issuer_name(self._subject)
        listed = listed.last_update(now - DAY).next_update(now + DAY)
        for one in revoked:
            number = x509.load_pem_x509_certificate(one.certificate.read_bytes()).serial_number
            entry = x509.RevokedCertificateBuilder().serial_number(number).revocation_date(now - DAY / 2).build()
            listed = listed.add_revoked_certificate(entry)
        self.revoked_file.write_bytes(listed.sign(self._key, hashes.SHA256()).public_bytes(PEM))
        return self.revoked_file


def _unsigned(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePublicKey,
    begins: datetime.datetime,
    ends: datetime.datetime,
) -> x509.CertificateBuilder:
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key)
    return builder.serial_number(x509.random_serial_number()).not_valid_before(begins).not_valid_after(ends)


def _usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs,
        crl_sign=signs,
        encipher_only=False,
        decipher_only=False,
    )


def _general(name: str) -> x509.GeneralName:
    if "://" in name:
        return x509.UniformResourceIdentifier(name)
    if "@" in name:
        return x509.RFC822Name(name)
    try:
        return x509.IPAddress(ip_address(name))
    except ValueError:
        return x509.DNSName(name)
