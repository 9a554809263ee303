"""Whether this machine's clock can be right: not before this version was made, and as others have it."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime

from heterodyne.cli.doctor.finding import DoctorFinding, FindingState
from heterodyne.physics.catalogue import accelerators

TOPIC = "clock"
SKEW_MAX_S = 2.0  # of machines that share limits and books
ADVICE = "set the clock, or have it kept by NTP; keys expire, limits renew and bills are dated by it"


def clock(now_s: float | None = None) -> DoctorFinding:
    """The catalogue that came with this version knows prices of its day."""
    now_s = time.time() if now_s is None else now_s
    newest = max(price.day for chip in accelerators().values() for price in chip.prices)
    today = datetime.fromtimestamp(now_s, UTC).strftime("%Y-%m-%d")
    value = datetime.fromtimestamp(now_s, UTC).strftime("%Y-%m-%d %H:%M:%SZ")
    if today >= newest:
        return DoctorFinding(topic=TOPIC, name="this machine", state=FindingState.GOOD, value=value)
    return DoctorFinding(
        topic=TOPIC,
        name="this machine",
        state=FindingState.BLOCKER,
        value=f"{value}, which is before this version was made ({newest})",
        advice=ADVICE,
    )


def skew(topic: str, name: str, theirs_s: float) -> Iterator[DoctorFinding]:
    """Against a server whose time was just read; nothing where they agree."""
    off_s = time.time() - theirs_s
    if abs(off_s) > SKEW_MAX_S:
        yield DoctorFinding(
            topic=topic,
            name=f"clock of {name}",
            state=FindingState.WARNING,
            value=f"this machine is {abs(off_s):.1f} s {'ahead of' if off_s > 0 else 'behind'} it",
            advice=ADVICE,
        )
