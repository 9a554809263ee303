"""Who sits at the terminal, by the system's word and not by a variable that anybody may set."""

import os
import pwd


def terminal_user() -> str:
    """For changes that no operator key stands behind."""
    uid = os.getuid()
    try:
        name = pwd.getpwuid(uid).pw_name
    except KeyError:
        name = str(uid)
    return f"terminal {name}"
