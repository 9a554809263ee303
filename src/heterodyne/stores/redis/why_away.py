"""Why Redis does not answer, in words without its address: the client's own may have it, with the password."""

import ssl

from heterodyne.wire.tls.failures import failure_text


def why_away(error: BaseException) -> str:
    """What is wrong of a certificate where that is why, else the kind of the error."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLError):
            return f"{type(error).__name__}: {failure_text(cause)}"
        cause = cause.__cause__ or cause.__context__
    return type(error).__name__
