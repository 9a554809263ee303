"""A child process that behaves as the first line on its standard input tells it to; run with `python -m`."""

import signal
import sys
import time


def main() -> None:
    """One short life."""
    mood = sys.stdin.readline().strip()
    if mood == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if mood == "silent":
        time.sleep(60)
    if mood == "fails":
        print('{"error":"no"}', flush=True)
        sys.exit(1)
    print('{"listening":1}', flush=True)
    if mood == "dies":
        sys.exit(3)
    if mood == "obeys":
        sys.exit(0 if sys.stdin.readline().strip() == "dies" else 4)
    sys.stdin.read()  # until the parent ends
    if mood == "stubborn":
        time.sleep(60)


if __name__ == "__main__":
    main()
