"""What the operator's door refuses, beside what the whole house refuses."""

from heterodyne.domain.errors import CallerError


class ChangeRefused(CallerError):
    """The fleet cannot be changed like this; the message says why, and what would do instead."""

    code = "change_refused"
    status = 409
