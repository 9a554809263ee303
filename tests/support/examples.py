"""How many examples hypothesis tries: a third of them in every run, all of them in `make test-deep`.

Most tests draw others in every run, so that many short runs see more than one long run.
"""

import os

IS_DEEP = os.environ.get("TEST_DEEP") == "1"
LEAST = 10


def examples(deep: int, least: int = LEAST) -> int:
    """Of so many in a deep run: what is tried now."""
    return deep if IS_DEEP else min(deep, max(deep // 3, least))
