"""Why a handshake failed, in one of a few words: for metrics and logs, where OpenSSL has hundreds."""

import ssl
from typing import Final

OTHER: Final = "other"
# What is wrong with the other side's certificate, by the number that OpenSSL has for it (X509_V_ERR_…).
_BY_CODE: Final = {
    3: "revocation_list_missing",
    12: "revocation_list_expired",
    23: "revoked",
    9: "not_yet_valid",
    10: "expired",
    18: "unknown_authority",
    19: "unknown_authority",
    20: "unknown_authority",
    21: "unknown_authority",
    26: "wrong_purpose",
    62: "wrong_name",
    63: "wrong_name",
    64: "wrong_name",
}
_BY_REASON: Final = {
    "UNSUPPORTED_PROTOCOL": "old_version",
    "VERSION_TOO_LOW": "old_version",
    "TLSV1_ALERT_PROTOCOL_VERSION": "old_version",
    "NO_SHARED_CIPHER": "no_common_cipher",
    "HTTP_REQUEST": "not_tls",
    "WRONG_VERSION_NUMBER": "not_tls",
    # What the other side says of our certificate.
    "TLSV1_ALERT_UNKNOWN_CA": "ours_refused",
    "TLSV13_ALERT_CERTIFICATE_REQUIRED": "ours_refused",
    "SSLV3_ALERT_BAD_CERTIFICATE": "ours_refused",
    "SSLV3_ALERT_CERTIFICATE_EXPIRED": "ours_refused",
    "SSLV3_ALERT_CERTIFICATE_REVOKED": "ours_refused",
    "SSLV3_ALERT_CERTIFICATE_UNKNOWN": "ours_refused",
    "SSLV3_ALERT_UNSUPPORTED_CERTIFICATE": "ours_refused",
}


def failure_word(error: ssl.SSLError) -> str:
    """`expired`, `revoked`, `unknown_authority`, `old_version`, `not_tls` and the like, or `other`."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return _BY_CODE.get(error.verify_code, OTHER)
    return _BY_REASON.get(error.reason or "", OTHER)


def failure_text(error: ssl.SSLError) -> str:
    """What OpenSSL says, without its numbers and places."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return error.verify_message
    return (error.reason or str(error)).lower().replace("_", " ")
