"""Questions with known answers, as an operator keeps them: a line of JSON each."""

from pathlib import Path

import msgspec

from heterodyne.domain.errors import SettingsInvalid
from heterodyne.rollout.golden import GoldenQuestion, GoldenSet


def read_golden(path: Path, right_share: float) -> GoldenSet:
    """Raises SettingsInvalid with the line that cannot be read."""
    questions = []
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        if line.strip():
            try:
                questions.append(msgspec.json.decode(line, type=GoldenQuestion))
            except msgspec.MsgspecError as error:
                raise SettingsInvalid(f"{path}: line {number}: {error}") from error
    return GoldenSet(questions=tuple(questions), right_share=right_share)
