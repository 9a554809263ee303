"""Builds every object from settings, opens and closes them; the only place concrete classes meet."""

import gc
import sys

# Of a process that is ours (`python -m heterodyne.assembly.worker`), and not of whoever imports this: thousands of
# modules are loaded next, and none of it is garbage; looking through it took an eighth of a start.
if sys.argv[:1] == ["-m"]:
    gc.set_threshold(50_000)
