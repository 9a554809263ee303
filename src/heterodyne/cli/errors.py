"""The one place where an error becomes lines on stderr and an exit code."""

from heterodyne.domain.errors import HeterodyneError, InvalidSpec, SettingsInvalid, UnknownName

FAILED = 1
MISUSED = 2  # click's code for bad usage; bad settings are the same kind of mistake


def lines(error: HeterodyneError) -> list[str]:
    """One line, or a count and one line per problem for settings with several."""
    message_lines = error.message.splitlines() or [error.code]
    if len(message_lines) == 1:
        return [f"heterodyne: {message_lines[0]}"]
    if isinstance(error, SettingsInvalid):
        return [f"heterodyne: {len(message_lines)} problems in the settings:", *_indented(message_lines)]
    return [f"heterodyne: {message_lines[0]}", *_indented(message_lines[1:])]


def exit_code(error: HeterodyneError) -> int:
    """2 when the operator wrote something wrong, 1 when the world did not comply."""
    return MISUSED if isinstance(error, SettingsInvalid | UnknownName | InvalidSpec) else FAILED


def _indented(some_lines: list[str]) -> list[str]:
    return [f"  {line}" for line in some_lines]
