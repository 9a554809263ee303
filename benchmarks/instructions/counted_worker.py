"""A gateway's worker as it is, but for the timer that watches its loop.

That fires by the clock, which valgrind does not slow down, and not by what is done.
"""

from heterodyne.assembly import worker
from heterodyne.gateway import loop_lag

if __name__ == "__main__":
    loop_lag.PERIOD_S = 3600.0
    worker.main()
