"""`heterodyne` with the words it is given, which leaves when its standard input ends.

The process that starts it holds the other end of that pipe: however that one ends, this one notices.
"""

import os
import signal
import threading
import time

from heterodyne.cli.main import main

LEAVE_TIMEOUT_S = 15.0  # longer than the gateway drains


def _leave_at_end_of_input() -> None:
    # The descriptor itself: a thread that sits in sys.stdin would hold its lock when the interpreter ends.
    while os.read(0, 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(LEAVE_TIMEOUT_S)
    os._exit(1)


if __name__ == "__main__":
    threading.Thread(target=_leave_at_end_of_input, daemon=True).start()
    main()
