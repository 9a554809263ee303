"""What an operator sends about rollouts."""

from msgspec import Struct

from heterodyne.domain.errors import InvalidField
from heterodyne.rollout.golden import QUESTIONS_MAX, GoldenSet

POOLS_MAX = 32
COPIES_MAX = 100_000


class RolloutStart(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Move a model to some of its pools."""

    model: str
    candidate: tuple[str, ...]  # pools; all others of the model are the baseline
    shadow: int = 0  # copies of users' requests that are compared before the first user; 0: none
    golden: GoldenSet | None = None  # questions that it has to get right before that
    control: bool = (
        True  # set replicas of the baseline apart that get as much as the candidate, where it can spare them
    )

    def __post_init__(self) -> None:
        if not 0 <= self.shadow <= COPIES_MAX:
            raise InvalidField(f"shadow: 0 to {COPIES_MAX} copies are expected.", param="shadow")
        if self.golden is not None:
            _check_golden(self.golden)
        if not 0 < len(self.candidate) <= POOLS_MAX:
            raise InvalidField(f"candidate: 1 to {POOLS_MAX} pools are expected.", param="candidate")

    def __str__(self) -> str:
        return f"{self.model} to {', '.join(self.candidate)}"


class RolloutOf(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The rollout of a model that runs."""

    model: str

    def __str__(self) -> str:
        return self.model


def _check_golden(golden: GoldenSet) -> None:
    if not 0 < len(golden.questions) <= QUESTIONS_MAX:
        raise InvalidField(f"golden.questions: 1 to {QUESTIONS_MAX} are expected.", param="golden.questions")
    if not 0.0 < golden.right_share <= 1.0:
        raise InvalidField("golden.right_share: above 0 and at most 1 is expected.", param="golden.right_share")
    for number, question in enumerate(golden.questions):
        if not question.prompt or not any(question.expects):
            where = f"golden.questions[{number}]"
            raise InvalidField(f"{where}: a prompt and words that its answer has are expected.", param=where)
