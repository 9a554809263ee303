"""Not collected by itself: a run of its own in which one test never ends."""

import time


def test_before():
    pass


def test_stuck():
    time.sleep(3600)


def test_after():
    pass
