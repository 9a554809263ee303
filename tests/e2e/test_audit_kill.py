"""`kill -9` at any moment: the log verifies, and nothing that was acknowledged is lost or comes twice."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from heterodyne.audit.audit_writer import AuditWriter
from heterodyne.audit.key import AuditKey, open_key
from heterodyne.audit.log import AuditLog
from heterodyne.audit.search import AuditQuery, search
from heterodyne.audit.settings import AuditSettings
from heterodyne.audit.verify import verify
from heterodyne.domain.audit import AuditEntry, ChangeEntry, RecoveredEntry, RequestEntry

KILLS = 8
SETTINGS = AuditSettings(segment_bytes_max=16384)

APPENDS = """
import sys
from pathlib import Path
from heterodyne.audit.key import open_key
from heterodyne.audit.log import AuditLog
from heterodyne.audit.settings import AuditSettings
from heterodyne.domain.audit import ChangeEntry
folder, first = Path(sys.argv[1]), int(sys.argv[2])
key = open_key(folder / "audit.key", may_create=True)
log = AuditLog(folder, key, AuditSettings(segment_bytes_max=16384))
number = first
while True:
    batch = [ChangeEntry(at=1.0, who="child", what="count", subject=str(number + more)) for more in range(7)]
    log.append(batch)
    number += 7
    print(number - 1, flush=True)
"""

SPOOLS = """
import sys, time
from pathlib import Path
from heterodyne.audit.key import open_key
from heterodyne.audit.settings import AuditSettings
from heterodyne.audit.spool import AuditSpool
from heterodyne.domain.audit import Content, RequestEntry
folder, name = Path(sys.argv[1]), sys.argv[2]
key = open_key(folder / "audit.key", may_create=True)
spool = AuditSpool(folder / "spool", name, key.content, AuditSettings(spool_bytes_max=1 << 24))
number = 0
while True:
    for _ in range(50):
        entry = RequestEntry(id=f"{name}/{number}", at=1.0, operation="chat", asked_model="m", status=200)
        spool.write(entry, Content(prompt=b"hello", answer=[b"a"], answer_bytes=1))
        number += 1
    time.sleep(0.002)
    print(spool.snapshot().spooled, flush=True)
"""


def start(script: str, *words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", script, *words], stdout=subprocess.PIPE)


def kill_after_some_lines(child: subprocess.Popen[bytes], some: random.Random) -> int:
    """The last number that the child said is safe; it is killed in the middle of what comes next."""
    assert child.stdout is not None
    lines = [child.stdout.readline() for _ in range(some.randint(1, 12))]
    time.sleep(some.random() / 100)  # anywhere within a write, not right after one
    os.kill(child.pid, signal.SIGKILL)
    lines += child.stdout.read().splitlines(keepends=True)
    child.wait(timeout=20)
    child.stdout.close()
    return int([line for line in lines if line.endswith(b"\n")][-1])


def entries(folder: Path, key: AuditKey) -> list[AuditEntry]:
    found: list[AuditEntry] = []
    verdict = search(folder, key, AuditQuery(), lambda one: found.append(one.entry))
    assert verdict.is_intact, verdict.findings
    return found


def test_a_writer_killed_again_and_again_loses_nothing_it_was_told_is_kept(tmp_path: Path) -> None:
    some, first = random.Random(7), 0
    for _ in range(KILLS):
        child = start(APPENDS, str(tmp_path), str(first))
        said = kill_after_some_lines(child, some)
        key = open_key(tmp_path / "audit.key", may_create=False)
        before = verify(tmp_path, key)
        assert before.is_intact, before.findings
        AuditLog(tmp_path, key, SETTINGS).close()
        after = verify(tmp_path, key)
        assert after.is_intact, after.findings
        assert after.unfinished_bytes == after.after_head == 0
        counted = [int(one.subject) for one in entries(tmp_path, key) if isinstance(one, ChangeEntry)]
        assert counted == list(range(len(counted))), "in order, none missing, none twice"
        assert len(counted) > said
        first = len(counted)
    assert verify(tmp_path, key).segments > 1


def test_killed_workers_and_killed_collectors_lose_nothing_that_was_spooled(tmp_path: Path) -> None:
    some = random.Random(11)
    folder = tmp_path / "audit"
    settings = AuditSettings(dir=str(folder), segment_bytes_max=65536)
    safe: dict[str, int] = {}
    collector = (
        "import sys, time\nfrom pathlib import Path\nfrom heterodyne.audit.audit_writer import AuditWriter\n"
        "from heterodyne.audit.settings import AuditSettings\n"
        f"writer = AuditWriter(AuditSettings(dir={str(folder)!r}, segment_bytes_max=65536), Path('.'))\n"
        "while True:\n    print(writer.snapshot().collected, flush=True)\n    time.sleep(0.02)\n"
    )
    for turn in range(3):
        collecting_process = start(collector)
        assert collecting_process.stdout is not None
        assert collecting_process.stdout.readline(), "the log is open"
        name = f"worker-{turn}"
        worker = start(SPOOLS, str(folder), name)
        assert worker.stdout is not None
        while int(worker.stdout.readline()) == 0:
            pass
        safe[name] = kill_after_some_lines(worker, some)
        kill_after_some_lines(collecting_process, some)
    last = AuditWriter(settings, tmp_path)
    last.close()
    key = open_key(folder / "audit.key", may_create=False)
    found = entries(folder, key)
    for name, spooled in safe.items():
        numbers = [
            int(one.id.split("/")[1])
            for one in found
            if isinstance(one, RequestEntry) and one.id.startswith(f"{name}/")
        ]
        assert numbers == list(range(len(numbers))), "in order, none missing, none twice"
        assert len(numbers) >= spooled
    assert list((folder / "spool").glob("*.spool")) == []
    # Of a segment that was killed before its first line there is nothing to cut.
    recovered = [one for one in found if isinstance(one, RecoveredEntry) and one.file.endswith(".spool")]
    assert all(one.cut_bytes > 0 for one in recovered)
