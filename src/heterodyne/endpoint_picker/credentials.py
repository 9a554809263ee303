"""TLS at the picker's port: files that were written anew hold from the next handshake on."""

from pathlib import Path
from typing import Any, Final

import grpc

from heterodyne.domain.tls_files import TlsFiles
from heterodyne.telemetry import log
from heterodyne.wire.tls.contexts import door_context
from heterodyne.wire.tls.stamps import Stamp, stamp_of

SETTING: Final = "endpoint_picker.tls_certificate"

_log = log.get("endpoint_picker")


def server_credentials(files: TlsFiles) -> Any:
    """With authorities, whoever comes has to show a certificate of theirs. Raises OSError where files are unfit."""
    held = HeldCertificate(files)
    return grpc.dynamic_ssl_server_credentials(
        held.read(), held.newer, require_client_authentication=files.authorities is not None
    )


class HeldCertificate:
    """What is shown now. gRPC asks before each handshake, in a thread of its own."""

    def __init__(self, files: TlsFiles) -> None:
        self._files = files
        self._stamp: Stamp = ()
        self._refused: Stamp = ()  # of files that were found unfit, which is said once

    def read(self) -> Any:
        """The files as they are; raises OSError where they do not belong together."""
        files, stamp = self._files, stamp_of(self._files)
        door_context(files)
        assert files.certificate is not None
        assert files.key is not None
        pair = Path(files.key).read_bytes(), Path(files.certificate).read_bytes()
        authorities = None if files.authorities is None else Path(files.authorities).read_bytes()
        self._stamp = stamp
        return grpc.ssl_server_certificate_configuration([pair], root_certificates=authorities)

    def newer(self) -> Any:
        """The files where they were written anew and are fit; None: what is shown still holds."""
        stamp = stamp_of(self._files)
        if stamp in (self._stamp, self._refused):
            return None
        try:
            return self.read()
        except OSError as error:
            self._refused = stamp
            _log.warning("certificate_unreadable", setting=SETTING, error=str(error))
            return None
