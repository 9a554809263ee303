"""Not collected by itself: a run of its own that starts servers, says so and never ends."""

import os
import time
from pathlib import Path

from heterodyne.testing.serve_process import ServeProcess
from tests.support.postgres_server import database
from tests.support.redis_server import RedisServer

REMOTE = """
[pools.remote]
model = "m"
engine = "openai"
urls = ["http://127.0.0.1:9"]
"""


def test_that_is_killed(tmp_path: Path):
    with RedisServer(), database(), ServeProcess(tmp_path, config=REMOTE) as serve:
        while not serve.children():
            assert serve.process.poll() is None, serve.log
            time.sleep(0.05)
        Path(os.environ["SERVERS_STAND"]).touch()
        time.sleep(3600)
