"""What the Kubernetes API says instead of an answer; every text names the verb and the object's path.

ApiError
├── ApiAway       no whole answer: no connection, no time, or a failure of the server's own
├── ApiForbidden  401, 403: the rights are missing, named as a Role would have them
├── ApiMissing    404: there is no such object
├── ApiConflict   409: somebody has changed it since it was read
├── ApiExpired    410: what a list or watch goes on from is forgotten; list anew
└── ApiRefused    any other no
"""


class ApiError(Exception):
    """One call that has no answer."""

    kind = "refused"  # a word for metrics


class ApiAway(ApiError):
    kind = "away"


class ApiForbidden(ApiError):
    kind = "forbidden"


class ApiMissing(ApiError):
    kind = "not_found"


class ApiConflict(ApiError):
    kind = "conflict"


class ApiExpired(ApiError):
    kind = "expired"


class ApiRefused(ApiError):
    kind = "refused"
