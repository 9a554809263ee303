"""What does not fit is counted and gone; whoever adds never waits."""

from pathlib import Path

import pytest

from heterodyne.domain.abuse_sign import AbuseSign
from heterodyne.gateway.abuse import sign_sender
from heterodyne.gateway.abuse.sign_sender import SignSender
from heterodyne.telemetry import metrics

ABOUT = AbuseSign("k", "a/b", "m", "m", 0.0)


def dropped(reason: str) -> float:
    return float(metrics.abuse_signs_dropped.cell((reason,))[0])


def test_too_many_requests_and_too_many_bytes_are_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sign_sender, "QUEUE_MAX", 3)
    monkeypatch.setattr(sign_sender, "QUEUE_BYTES_MAX", 100)
    before = dropped("queue"), dropped("body")
    sender = SignSender(tmp_path, b"secret")
    for _ in range(5):
        sender.add(ABOUT, b"x" * 60, verbatim=False)
    assert (dropped("queue") - before[0], dropped("body") - before[1]) == (2, 2)


def test_without_a_supervisor_signs_are_gone(tmp_path: Path) -> None:
    before = dropped("socket")
    sender = SignSender(tmp_path, b"secret", interval_s=0.01)
    sender.add(ABOUT, b'{"prompt": "whatever was asked"}', verbatim=False)
    sender.start()
    sender.close()
    assert dropped("socket") - before == 1
