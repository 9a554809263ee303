"""The weight of a replica that has come back: a small share at first, all of it after a window.

A cold replica has an empty prefix cache and perhaps kernels to compile; full traffic at once would make it fail again.
"""


def slow_start_weight(recovered_at_s: float, now_s: float, *, window_s: float, share_min: float) -> float:
    """From `share_min` to 1 in a straight line."""
    grown = (now_s - recovered_at_s) / window_s
    if grown >= 1.0:
        return 1.0
    return max(share_min, grown)
