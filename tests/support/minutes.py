"""The windows of limits, for tests that must not straddle two of them."""

import time

MINUTE_S = 60


def minute_left_s() -> float:
    """How much is left of the current UTC minute."""
    return MINUTE_S - time.time() % MINUTE_S


def this_minute() -> int:
    """The name of the current window."""
    return int(time.time() // MINUTE_S) * MINUTE_S


def today() -> int:
    """The name of the current day's window."""
    return int(time.time() // 86_400) * 86_400


def wait_for_room(needed_s: float) -> None:
    """Return when so much of a minute is left; at most that long, and usually at once."""
    assert needed_s < MINUTE_S
    left_s = minute_left_s()
    if left_s < needed_s:
        time.sleep(left_s + 0.05)
