"""One thing wrong with the settings, and the error that carries all of them together."""

from msgspec import Struct

from heterodyne.domain.errors import SettingsInvalid


class SettingProblem(Struct, frozen=True, kw_only=True):
    """What is wrong, where, and what to try."""

    path: str  # a setting, a variable or a place in a file
    message: str
    rests_on: tuple[str, ...] = ()  # other settings the finding compares; it is moot while one is broken

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


class SettingsProblems(SettingsInvalid):
    """Settings that were refused, with every problem found in them."""

    def __init__(self, problems: tuple[SettingProblem, ...]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = problems
