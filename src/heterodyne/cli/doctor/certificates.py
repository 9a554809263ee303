"""Whether every certificate that we show can be shown, and for how long."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime

from heterodyne.alerts.families.certificates import ENDING_DAYS
from heterodyne.cli.doctor.finding import DoctorFinding, FindingState
from heterodyne.config.settings import Settings
from heterodyne.domain.counted import counted
from heterodyne.supervisor.certificates import CertificateSeen, certificates_of

TOPIC = "certificates"
ADVICE = "write a newer one into the same file; it is taken within seconds, and no restart is needed"


def certificates(settings: Settings) -> Iterator[DoctorFinding]:
    """One for each; settings without TLS have none."""
    for seen in certificates_of(settings):
        left = None if seen.ends_at is None else (seen.ends_at - time.time()) / 86400
        state = FindingState.GOOD
        if left is None or left <= 0:
            state = FindingState.BLOCKER
        elif left < ENDING_DAYS:
            state = FindingState.WARNING
        advice = None if state is FindingState.GOOD else ADVICE
        yield DoctorFinding(topic=TOPIC, name=seen.setting, state=state, value=_value(seen, left), advice=advice)


def _value(seen: CertificateSeen, left: float | None) -> str:
    if left is None or seen.ends_at is None:
        return f"{seen.file}: {seen.problem}"
    day = datetime.fromtimestamp(seen.ends_at, UTC).strftime("%Y-%m-%d %H:%MZ")
    if left <= 0:
        return f"{seen.file} was over on {day}"
    return f"{seen.file} is good for {counted(int(left), 'day')}, until {day}"
